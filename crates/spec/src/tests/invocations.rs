//! Command lines and job files from vendors' documents and well-known scripts.

use super::read;
use crate::testing::FakeWorld;

const LINES: &[&str] = &[
    "--filename=/dev/DEV --direct=1 --rw=read --randrepeat=0 --ioengine=libaio --bs=1024k --iodepth=8 --time_based=1 --runtime=180 --name=fio_direct_read_test",
    "--filename=/dev/xvdf --rw=read --bs=1M --iodepth=32 --ioengine=libaio --direct=1 --name=volume-initialize",
    "--name=write_throughput --directory=/d --numjobs=16 --size=10G --time_based --runtime=5m --ramp_time=2s --ioengine=libaio --direct=1 --verify=0 --bs=1M --iodepth=64 --rw=write --group_reporting=1 --iodepth_batch_submit=64 --iodepth_batch_complete_max=64",
    "--name=read_bandwidth_test --filename=/dev/x --filesize=25G --time_based --ramp_time=2s --runtime=1m --ioengine=libaio --direct=1 --verify=0 --randrepeat=0 --bs=1M --iodepth=64 --rw=read --numjobs=16 --offset_increment=100G",
    "--filename=/dev/x --direct=1 --rw=randrw --bs=4k --ioengine=libaio --iodepth=256 --runtime=120 --numjobs=4 --time_based --group_reporting --name=iops-test-job --eta-newline=1",
    "--filename=/dev/x --direct=1 --rw=randread --bs=4k --iodepth=1 --numjobs=1 --time_based --group_reporting --name=readlatency-test-job --runtime=120 --eta-newline=1 --readonly",
    "--randrepeat=1 --ioengine=libaio --direct=1 --gtod_reduce=1 --name=test --filename=random_read_write.fio --bs=4k --iodepth=64 --size=4G --readwrite=randrw --rwmixread=75",
    "--name=rand_rw_4k --ioengine=libaio --rw=randrw --rwmixread=50 --bs=4k --iodepth=64 --numjobs=2 --size=2G --runtime=30 --gtod_reduce=1 --direct=1 --filename=/p/test.fio --group_reporting --minimal",
    "-filename=/dev/vdb -direct=1 -iodepth 32 -thread -rw=randread -ioengine=libaio -bs=4k -size=128G -numjobs=32 -runtime=3000 -group_reporting -name=mytest",
    "--rw=write --ioengine=sync --fdatasync=1 --directory=test-data --size=22m --bs=2300 --name=mytest",
    "--filename=/dev/sda --direct=1 --sync=1 --rw=write --bs=4k --numjobs=1 --iodepth=1 --runtime=60 --time_based --group_reporting --name=journal-test",
    "--randrepeat=0 --verify=0 --ioengine=libaio --direct=1 --gtod_reduce=1 --name=read_iops --filename=/m/fiotest --bs=4K --iodepth=64 --size=2G --readwrite=randread --time_based --ramp_time=2s --runtime=15s",
    "--bs=1M --iodepth=16 --readwrite=read --thread --numjobs=4 --offset_increment=500M --name=seq",
    "--name=reproduce-iostat-load --filename=/f --size=10G --rw=randrw --rwmixwrite=97 --bsrange=4k-32k --ioengine=libaio --direct=1 --numjobs=8 --iodepth=8 --runtime=120s --group_reporting",
    "--create_only=1 --size=128M --filename=.fio.tmp --name=read",
    "--direct=1 --overwrite=1 --output-format=json --rw=write --bs=256K --numjobs=1 --iodepth=64 --fallocate=none --refill_buffers=1 --name=X --size=134G",
    "--name=SeqPrecon --rw=write --bs=128k --iodepth=64 --loops=2 --fill_device=1 --norandommap --randrepeat=0 --refill_buffers --log_avg_msec=1000 --write_iops_log=X",
    "--ioengine=io_uring --registerfiles --fixedbufs --hipri --sqthread_poll --iodepth=128 --iodepth_batch_submit=32 --iodepth_batch_complete_min=32 --gtod_reduce=1 --cpus_allowed=0-3 --thread --name=peak",
    "--directory=/data --random_generator=lfsr --norandommap --randrepeat 1 --status-interval=999 --rw=write --bs=4k --loops=1 --ioengine=sync --iodepth=1 --numjobs=1 --fsync_on_close=1 --group_reporting --thread --name=iops-test-job --eta-newline=1 --size 100G",
    "--filename=/dev/vda --direct=1 --rw=randread --bs=4k --ioengine=libaio --iodepth=16 --runtime=10 --numjobs=4 --time_based --group_reporting --name=iops-test-job --eta-newline=1 --readonly --output /tmp/fio1",
    "--name=full_device_write --rw=randwrite --direct=1 --ioengine=libaio --verify=crc32c --verify_dump=1 --bs=32k --iodepth=32 --filename=/dev/nbd0:/dev/nbd2 --serialize_overlap=1 --randseed=0",
    "--size=700M --io_size=30G --norandommap=1 --randrepeat=0 --random_distribution=zipf:1.2 --name zipf_hot_cold_test",
];

/// Engine options of the lines above; the engines themselves live elsewhere.
const ENGINE_OPTIONS: &[&str] = &["--registerfiles", "--fixedbufs", "--sqthread_poll"];

#[test]
fn known_lines_parse_without_a_word() {
    for line in LINES {
        let mut line = line.to_string();
        for word in ENGINE_OPTIONS {
            line = line.replace(word, "");
        }
        line = line.replace("ioengine=sync", "ioengine=psync");
        let spec = read(&line, &FakeWorld::default()).unwrap_or_else(|e| panic!("{line}: {e}"));
        assert_eq!(spec.jobs.len(), 1, "{line}");
        assert!(spec.notes.is_empty(), "{line}: {:?}", spec.notes);
    }
}

#[test]
fn a_mix_of_jobs_with_trailing_blanks() {
    let text = "[global]   \nclocksource=clock_gettime\nrandrepeat=0\nruntime=180\n\
                offset_increment=100g\n\n[sequential-write]\nbs=1M\nrw=write\ndo_verify=0\n\
                numjobs=1\nrwmixread=0\nrwmixwrite=100\n[random-mixed]\nrw=randrw\n";
    let spec = super::file(text);
    assert_eq!(spec.jobs.len(), 2);
    assert_eq!(spec.jobs[0].options.io.rwmixread, 0);
    assert_eq!(spec.jobs[1].options.io.rwmixread, 50);
}

#[test]
fn a_line_around_an_included_file() {
    let world = FakeWorld::default()
        .with_file("t/bandwidth.fio", "[global]\ninclude bw-include.fio\ninclude common-include.fio\n[read]\nrw=read\nstonewall\n")
        .with_file("t/bw-include.fio", "bs=128k\niodepth=16\nnumjobs=4\n")
        .with_file("t/common-include.fio", "stonewall=1\nrandrepeat=0\nverify=0\nioengine=libaio\ndirect=1\ntime_based=1\nramp_time=5s\nruntime=20s\ngroup_reporting\n");
    let line = "t/bandwidth.fio --idle-prof=percpu --filename=F --size=30g --output-format=json --output=O";
    let spec = read(line, &world).unwrap();
    let o = &spec.jobs[0].options;
    assert!(o.io.direct && o.process.stonewall && o.process.group_reporting);
    assert_eq!(o.target.filename.as_ref().unwrap().0, ["F"]);
    assert_eq!(o.process.numjobs, 4);
}

#[test]
fn twelve_block_sizes_and_a_zoned_distribution() {
    let text = "[global]\nbssplit=512/4:1024/1:1536/1:2048/1:2560/1:3072/1:3584/1:4k/67:8k/10:\
                16k/7:32k/3:64k/3\nrandom_distribution=zoned:50/5:30/15:20/80\nrw=randrw\n\
                rwmixread=40\nnumjobs=4\niodepth=256\nblockalign=4k\nrandom_generator=tausworthe64\n\
                [jesd]\n";
    let spec = super::file(text);
    let split = &spec.jobs[0].options.block.bssplit.0[0];
    assert_eq!(split.0.len(), 12);
    assert_eq!(split.0.last(), Some(&(4096, 67)));
}
