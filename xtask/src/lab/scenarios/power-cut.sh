# Verified writes, a machine whose power is cut in the middle of them, and what is found afterwards.
# Namespaces get their names in the order of their discovery, which is not always the same.
namespace() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        for dir in /sys/block/nvme0n*; do
            [ "$(cat "$dir/nsid")" = "$1" ] && echo "/dev/${dir##*/}" && return
        done
        sleep 0.1
    done
}
data=$(namespace 1)
kept=$(namespace 2)
job="--name=cut --filename=$data --rw=randwrite --bs=4k --size=64m --direct=1 --ioengine=io_uring
    --iodepth=16 --verify=crc32c --aux-path=/tmp"
state=/tmp/local-cut-0-verify.state
if [ "$stage" = 1 ]; then
    # The trigger puts the saved state where it outlives the machine; the host sees the last line.
    fio $job --do_verify=0 --rate_iops=3000 --verify_state_save=1 --trigger-timeout=2 --eta=never \
        --trigger="dd if=$state of=$kept bs=64k conv=sync oflag=direct 2>/dev/null && sync && printf '\nLAB CUT\n'"
    sleep 10
    echo "FAIL the power was not cut"
fi
dd if=$kept of=$state bs=64k count=1 2>/dev/null
before="--verify_only=1 --verify_state_load=1 --output-format=json --output=cut.json"
check "what was acknowledged is there" fio $job $before --write_iolog=reads
reads=$(grep -c ' read ' reads)
if [ "$reads" -gt 1000 ] && [ "$reads" -lt 16000 ]; then
    echo "PASS the power was cut in the middle"
else
    echo "FAIL the power was cut in the middle: $reads of 16384 writes were acknowledged"
fi
refused "what was not written is reported" "verify" fio $job --verify_only=1
offset=$(grep ' read ' reads | sed -n '500p' | awk '{print $4}')
dd if=/dev/zero of=$data bs=4096 seek=$((offset / 4096)) count=1 2>/dev/null
sync
refused "an acknowledged block that is lost is found" "offset $offset" fio $job $before
