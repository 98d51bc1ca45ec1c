# NVMe commands through the character device of a namespace, against what the block device says.
disk=/dev/nvme0n1
cmd="--name=a --filename=/dev/ng0n1 --ioengine=io_uring_cmd --cmd_type=nvme"
block="--name=a --filename=$disk --direct=1"
check "commands write and verify" fio $cmd --rw=randwrite --bs=4k --size=4m --iodepth=16 --verify=crc32c
for registered in --fixedbufs --registerfiles "--fixedbufs --registerfiles --force_async=4"; do
    check "$registered" fio $cmd --rw=randwrite --bs=4k --size=4m --iodepth=16 $registered --verify=md5
done
check "flushes, and writes to the medium" fio $cmd --rw=randwrite --bs=4k --size=1m --iodepth=4 \
    --fsync=8 --writefua=1 --readfua=1 --verify=crc32c
check "a pattern by commands" fio $cmd --rw=write --bs=64k --size=4m --iodepth=4 --buffer_pattern=0xdeadface
check "is on the block device" fio $block --rw=read --bs=4k --size=4m --verify=pattern \
    --verify_pattern=0xdeadface
check "a pattern by the block device" fio $block --rw=write --bs=64k --size=4m --buffer_pattern=0xcafe
check "is read by commands" fio $cmd --rw=randread --bs=4k --size=4m --iodepth=16 --verify=pattern \
    --verify_pattern=0xcafe
check "commands trim" fio $cmd --rw=trim --bs=64k --size=2m --output-format=json --output=trim.json
same "trims are counted" "$(sed -n '/"trim" : {/,/io_bytes/p' trim.json | sed -n 's/.*io_bytes" : \([0-9]*\).*/\1/p')" 2097152
check "zeroes are written" fio $cmd --rw=write --bs=64k --size=4m --iodepth=4 --write_mode=zeroes
check "and are zeroes" fio $block --rw=read --bs=64k --size=4m --verify=pattern --verify_pattern=0
refused "priorities" "no I/O priority" fio $cmd --rw=read --bs=4k --size=1m --cmdprio_percentage=10
refused "protection information" "metadata" fio $cmd --rw=read --bs=4k --size=1m --pi_act=0
refused "half blocks" "blocks of 512 bytes" fio $cmd --rw=read --bs=1000 --size=100000
refused "commands longer than the device takes" "at most 524288 bytes" fio $cmd --rw=read --bs=1m --size=4m
refused "the block device" "character devices" fio --name=a --filename=$disk --ioengine=io_uring_cmd \
    --rw=read --bs=4k --size=1m
