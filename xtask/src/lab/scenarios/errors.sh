# Devices that fail: null_blk with bad blocks, and an NVMe drive whose image errs at known sectors.
config=/sys/kernel/config/nullb/bad
mount -t configfs config /sys/kernel/config
mkdir $config
echo 64 >$config/size
echo 1 >$config/memory_backed
echo 512 >$config/blocksize
# Sectors 80 to 87 and 8000 to 8007: the blocks at 40 KiB and 4000 KiB.
echo "+80-87" >$config/badblocks
echo "+8000-8007" >$config/badblocks
echo 1 >$config/power
# Recent kernels name the disk after the directory.
disk=/dev/bad
refused "a bad block ends the job" "error" fio --name=a --filename=$disk --rw=read --bs=4k --size=8m --direct=1
same "the error is the device's" "$(grep -c 'nput/output error' /tmp/err)" 1
for engine in psync libaio io_uring; do
    check "$engine goes on over errors" fio --name=a --filename=$disk --ioengine=$engine --iodepth=8 \
        --rw=read --bs=4k --size=8m --direct=1 --continue_on_error=read --output-format=json --output=errors.json
    same "$engine counts both errors" "$(value total_err errors.json)" 2
done
check "writes fail where reads do" fio --name=a --filename=$disk --rw=write --bs=4k --size=8m --direct=1 \
    --continue_on_error=write --output-format=json --output=errors.json
same "write errors are counted" "$(value total_err errors.json)" 2
refused "a failing sector of the drive ends the job" "error" fio --name=a --filename=/dev/nvme0n1 \
    --rw=read --bs=4k --size=4m --direct=1
# Linux reports an unrecovered read of an NVMe drive as ENODATA, which fio passes over only when told.
rm -f errors.json
check "a failing drive is read around" fio --name=a --filename=/dev/nvme0n1 --rw=read --bs=4k --size=4m \
    --direct=1 --continue_on_error=read --ignore_error=ENODATA --output-format=json --output=errors.json
same "the failing sector is one error" "$(value total_err errors.json)" 1
