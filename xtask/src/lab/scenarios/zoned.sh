# A zoned NVMe namespace of 24 zones of 1 MiB, of which 768 KiB can be written, four of them at once;
# and a null_blk device whose first zones need no order.
# Drives are numbered as they answer.
number() {
    for drive in /sys/class/nvme/nvme*; do
        grep -q "^$1 *$" $drive/serial && echo ${drive##*nvme}
    done
}
first=$(number lab0)
disk=/dev/nvme${first}n1
same "the namespace is zoned" "$(cat /sys/block/nvme${first}n1/queue/zoned)" host-managed
zbd="--zonemode=zbd --direct=1 --output-format=json --output=zoned.json"
check "zones are written in order" fio --name=a --filename=$disk --rw=write --bs=64k $zbd
sed -n '/"write" : {/,$p' zoned.json >write.json
same "as much as fits" "$(value io_bytes write.json)" $((24 * 768 * 1024))
check "full zones are reset before they are written again" fio --name=a --filename=$disk --rw=write \
    --bs=64k --size=8z $zbd
same "each of them once" "$(value zone_resets zoned.json)" 8
for engine in psync libaio io_uring; do
    # What an earlier job has left open counts against the device's limits.
    fio --name=a --filename=$disk --rw=trim --bs=1m $zbd
    check "$engine writes at the write pointers and verifies" fio --name=a --filename=$disk \
        --ioengine=$engine --iodepth=8 --rw=randwrite --bs=16k --verify=crc32c --size=6z $zbd
    check "$engine keeps to the zones that may be open" fio --name=a --filename=$disk --ioengine=$engine \
        --iodepth=8 --rw=randrw --bsrange=4k-64k --norandommap --io_size=6m --max_open_zones=3 $zbd
done
check "blocks that do not divide a zone leave it finished" fio --name=a --filename=$disk --rw=randwrite \
    --bs=80k --norandommap --io_size=12m --max_open_zones=4 $zbd
check "jobs share the zones" fio --filename=$disk --rw=randwrite --bs=16k --norandommap --io_size=4m \
    --max_open_zones=4 $zbd --name=a --name=b --ioengine=io_uring --iodepth=4 --name=c --rw=randread
check "what is written is read" fio --name=a --filename=$disk --rw=randread --bs=16k --size=12z $zbd
check "trims reset zones" fio --name=a --filename=$disk --rw=trim --bs=1m $zbd
check "empty zones have nothing to read" fio --name=a --filename=$disk --rw=read --bs=64k $zbd
same "and nothing is read" "$(value total_ios zoned.json)" 0
refused "more open zones than the device has" "larger than max (4)" fio --name=a --filename=$disk \
    --rw=randwrite --bs=16k --max_open_zones=5 --zonemode=zbd --direct=1
refused "buffered writes" "direct I/O is mandatory" fio --name=a --filename=$disk --rw=write --bs=16k \
    --zonemode=zbd
refused "another zone size" "does not match disk zone size 1048576" fio --name=a --filename=$disk \
    --rw=write --bs=16k --zonesize=2m --zonemode=zbd --direct=1
# The same through commands.
ng="--name=a --filename=/dev/ng${first}n1 --ioengine=io_uring_cmd --iodepth=4 $zbd"
check "commands write at the write pointers and verify" fio $ng --rw=randwrite --bs=16k --verify=crc32c --size=6z
check "commands append to zones" fio $ng --rw=write --bs=16k --write_mode=zone_append --verify=crc32c --iodepth=1 \
    --offset=8z --size=6z
check "the block device has what was appended" fio --name=a --filename=$disk --rw=read --bs=16k \
    --verify=crc32c --offset=8z --size=6z $zbd
same "all of it" "$(value io_bytes zoned.json)" $((6 * 768 * 1024))
check "commands reset zones" fio $ng --rw=trim --bs=1m
refused "appends need zones" "zonemode=zbd" fio --name=a --filename=/dev/ng${first}n1 --ioengine=io_uring_cmd \
    --rw=write --bs=16k --write_mode=zone_append
# The write pointer of the zone lies behind the write that failed.
fails="--name=a --filename=/dev/nvme$(number lab1)n1 --rw=write --bs=64k $zbd --continue_on_error=write --ignore_error=,ENODATA:EIO"
check "a zone goes on behind a write that failed" fio $fails --recover_zbd_write_error=1
same "one write failed" "$(value total_err zoned.json)" 1
config=/sys/kernel/config/nullb/zones
mount -t configfs config /sys/kernel/config
mkdir $config
echo 32 >$config/size
echo 1 >$config/memory_backed
echo 1 >$config/zoned
echo 2 >$config/zone_size
echo 3 >$config/zone_nr_conv
echo 1 >$config/power
check "zones without order are written at random" fio --name=a --filename=/dev/zones --rw=randwrite \
    --bs=4k --verify=crc32c --size=6m $zbd
check "both kinds side by side" fio --name=a --filename=/dev/zones --rw=randrw --bs=16k --norandommap \
    --io_size=32m $zbd
