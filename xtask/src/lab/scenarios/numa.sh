# Two nodes with one CPU each: is memory where it was asked for, and do limits end in words? What
# the figures are worth in an emulated machine does not matter.
mkdir -p /run
quick="-b16m -t1 -v"

# on NAME NODE FLAGS..: all of the latency thread's buffer is on NODE.
on() {
    name=$1
    node=$2
    shift 2
    assay mlc --idle_latency $quick "$@" >/tmp/out 2>/tmp/err
    if grep -q "node $node 100 %" /tmp/out; then
        echo "PASS $name"
    else
        echo "FAIL $name: $(cat /tmp/out /tmp/err | grep -v '^$' | tail -n 3 | tr '\n' ' ')"
    fi
}

# says NAME TEXT: the last command's output has TEXT.
says() {
    if grep -q -- "$2" /tmp/out; then
        echo "PASS $1"
    else
        echo "FAIL $1: $(tail -n 4 /tmp/out | tr '\n' ' ')"
    fi
}

same "there are two nodes" "$(cat /sys/devices/system/node/online)" 0-1
on "memory is near the CPU that loads" 0 -c0
on "so it is on the other node" 1 -c1
on "-j takes it from a node" 1 -c0 -j1
on "-i from the node of the CPU that touches it first" 1 -c0 -i1
on "-j beats -i" 0 -c0 -i1 -j0
refused "a node that does not exist" "node 7" assay mlc --idle_latency -j7 $quick
refused "a CPU that does not exist" "CPU 9" assay mlc --idle_latency -c9 $quick

check "a matrix of latencies" assay mlc --latency_matrix -b16m -t1
same "has a row for each node" "$(grep -cE '^ +[01]	 *[0-9.]+	 *[0-9.]+	' /tmp/out)" 2
check "both matrices" assay mem matrix --buffer 16m --json
misplaced=$(tr -d ' \n' </tmp/out | sed 's/.*"misplaced":\(\[[^]]*\]\).*/\1/')
same "are in place" "$misplaced" "[]"

refused "one CPU has nobody to send to" "need two CPUs" taskset 1 assay mem c2c
check "one CPU can measure latency" taskset 2 assay mlc --idle_latency $quick
says "from where it is" "node 1 100 %"
refused "and no other CPU" "CPU 0 is offline or outside" taskset 2 assay mlc --idle_latency -c0 $quick

pool=/sys/devices/system/node/node1/hugepages/hugepages-2048kB
refused "reserved pages that are not there" "reserved pages of 2 MiB and 0 are free" \
    assay mlc --idle_latency -L $quick
echo 12 >$pool/nr_hugepages
on "reserved pages of the other node" 1 -c0 -j1 -L
says "are reserved pages" "2 MiB reserved"
refused "this node has none" "0 are free on node 0" assay mlc --idle_latency -c0 -j0 -L $quick
assay mlc --idle_latency -c0 -j1 -L -b16m -t30 >/dev/null 2>&1 &
sleep 4
same "while a run lasts its pages are taken" "$(cat $pool/free_hugepages)" 4
kill -9 $!
wait $! 2>/dev/null
same "after a crash they are free" "$(cat $pool/free_hugepages)" 12
same "and as many as before" "$(cat $pool/nr_hugepages)" 12
echo 0 >$pool/nr_hugepages

check "without being asked to change registers" assay mlc --idle_latency -c0 $quick
says "prefetchers stay on, and that is said" "Unable to modify prefetchers"
# The emulated processor takes writes to this register and forgets them.
refused "prefetchers that cannot be turned off" "does not keep what is written" \
    assay mlc --idle_latency --prefetch_off $quick
mv /dev/cpu/0/msr /dev/cpu/0/away
refused "nor without the driver" "modprobe msr" assay mem latency --prefetch-off --buffer 16m
mv /dev/cpu/0/away /dev/cpu/0/msr
same "no journal of registers is left" "$(ls /run)" ""
# What a killed run would leave: a process that is no more, and the old value of a register.
echo "1 0
0 1a4 0" >/run/assay-prefetchers
check "the next run puts registers back" assay mlc --idle_latency -c0 $quick
says "and says so" "1 registers were put back"
same "then the journal is gone" "$(ls /run)" ""

group=/sys/fs/cgroup/small
mount -t cgroup2 cgroup /sys/fs/cgroup
echo "+memory +cpu" >/sys/fs/cgroup/cgroup.subtree_control
mkdir $group
echo 100M >$group/memory.max
within() { sh -c 'echo $$ >/sys/fs/cgroup/small/cgroup.procs; exec "$@"' within "$@"; }
refused "a buffer beyond memory.max" "memory.max of the control group, 100 MiB" \
    within assay mlc --idle_latency -c0 -b200m -t1
check "buffers of our own choice fit into it" within assay mem latency
echo 24M >$group/memory.max
refused "no room to speak of" "does not fit" within assay mlc --idle_latency -c0 -b32m -t1
same "nobody was killed" "$(sed -n 's/^oom_kill //p' $group/memory.events)" 0
echo max >$group/memory.max
echo "50000 100000" >$group/cpu.max
refused "half a CPU has nobody to send to" "need two CPUs" within assay mem c2c
check "half a CPU measures latency" within assay mem latency --buffer 16m --json
says "and says what it had" '"cpu_limit": 0.5'
