# Control groups of version 2: what a run reads is booked to its group, and the group goes with it.
disk=/dev/nullb0
tree=/sys/fs/cgroup
job="--name=a --filename=$disk --rw=read --bs=4k --size=8m --direct=1"

refused "without control groups" "no control groups of version 2 are mounted" fio $job --cgroup=x
mount -t cgroup2 cgroup $tree
check "a run in a group of its own" fio $job --cgroup=x
same "the group goes with it" "$(ls -d $tree/x 2>/dev/null)" ""
check "two jobs, and a group that is kept" fio --cgroup=y --cgroup_nodelete=1 $job --name=b \
    --filename=$disk --rw=read --bs=4k --size=8m --direct=1
check "and one of another name" fio $job --cgroup=y --cgroup_nodelete=1 --cgroup_weight=300
same "has the weight" "$(head -n 1 $tree/y/io.weight)" "default 300"
same "all that was read is booked to it" "$(sed -n 's/.*rbytes=\([0-9]*\).*/\1/p' $tree/y/io.stat)" 25165824
same "nobody is left in it" "$(cat $tree/y/cgroup.procs)" ""
refused "jobs of one run in two groups" "threads of one process" \
    fio $job --cgroup=x --name=b --filename=$disk --rw=read --size=8m --cgroup=z
same "nothing was made for them" "$(ls -d $tree/x $tree/z 2>/dev/null)" ""
mkdir $tree/other
sh -c 'echo $$ >/sys/fs/cgroup/other/cgroup.procs; exec fio --name=a --filename=/dev/nullb0 --rw=read \
    --bs=4k --size=400m --direct=1 --rate=4m --cgroup=w --eta=never' >/dev/null 2>&1 &
sleep 4
same "a run is in its group as a whole" "$(cat $tree/w/cgroup.procs)" "$!"
kill -9 $!
wait $! 2>/dev/null
same "a killed run leaves its group" "$(ls -d $tree/w)" "$tree/w"
check "which cleanup removes" assay cleanup
same "then it is gone" "$(ls -d $tree/w 2>/dev/null)" ""
