# An NVMe drive through each engine that can reach a block device, and its character device.
for engine in sync psync pvsync2 libaio io_uring posixaio mmap; do
    direct=1
    [ $engine = mmap ] && direct=0
    check "nvme $engine writes and verifies" fio --name=a --filename=/dev/nvme0n1 --ioengine=$engine \
        --iodepth=8 --rw=randwrite --bs=4k --size=4m --direct=$direct --verify=crc32c
done
check "nvme io_uring with fixed buffers and files" fio --name=a --filename=/dev/nvme0n1 \
    --ioengine=io_uring --fixedbufs --registerfiles --iodepth=8 --rw=randread --bs=4k --size=4m --direct=1
check "nvme trims" fio --name=a --filename=/dev/nvme0n1 --rw=randtrim --bs=64k --size=4m \
    --output-format=json --output=trim.json
same "nvme trims are counted" "$(sed -n '/"trim"/,/io_bytes/p' trim.json | sed -n 's/.*io_bytes" : \([0-9]*\).*/\1/p')" 4194304
before=$(awk '{print $7}' /sys/block/nvme0n1/stat)
check "nvme sequential writes" fio --name=a --filename=/dev/nvme0n1 --rw=write --bs=64k --size=8m --direct=1
after=$(awk '{print $7}' /sys/block/nvme0n1/stat)
same "nvme device counts the sectors written" $((after - before)) 16384
check "nvme disk statistics name the drive" fio --name=a --filename=/dev/nvme0n1 --rw=randread --bs=4k \
    --size=2m --direct=1 --output=stat.txt
same "nvme disk statistics name the drive once" "$(grep -c 'nvme0n1: ios=' stat.txt)" 1
refused "nvme unaligned direct I/O says the alignment" 512 fio --name=a --filename=/dev/nvme0n1 \
    --rw=read --bs=1000 --size=100000 --direct=1
