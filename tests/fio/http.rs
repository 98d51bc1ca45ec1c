//! Objects of web servers, and requests from threads of their own: a small server tells what it
//! was asked for.

use crate::harness::web::{Objects, Web, signed_with};
use crate::harness::{Fio, Scratch, fio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

const BLOCKS: u64 = 16;

fn job(web: &Web, words: &str) -> Fio {
    fio("--name=a --ioengine=http --bs=4k --size=64k --output-format=json")
        .arg(format!("--http_host={}", web.host))
        .args(words.split_whitespace())
        .env("NO_PROXY", "127.0.0.1")
}

fn store() -> (Web, Arc<Objects>) {
    let objects = Arc::new(Objects::default());
    let kept = Arc::clone(&objects);
    (Web::start(move |request| kept.answer(request)), objects)
}

fn names(objects: &Objects) -> Vec<String> {
    objects
        .0
        .lock()
        .expect("no panic")
        .keys()
        .cloned()
        .collect()
}

#[test]
fn secure_servers_are_those_that_the_host_trusts() {
    let objects = Arc::new(Objects::default());
    let kept = Arc::clone(&objects);
    let (web, certificate) = Web::start_tls(move |request| kept.answer(request));
    let scratch = Scratch::new("https");
    let file = scratch.path().join("authority.pem");
    std::fs::write(&file, certificate).expect("scratch");
    let words = "--filename=/x --rw=write --size=8k";
    let strict = job(&web, &format!("{words} --https=on"));
    let outcome = strict.fails();
    assert!(outcome.stderr.contains("ertificate"), "{outcome}");
    assert!(names(&objects).is_empty());
    for (more, env) in [("--https=insecure", ""), ("--https=on", "SSL_CERT_FILE")] {
        let mut job = job(&web, &format!("{words} {more}"));
        if !env.is_empty() {
            job = job.env(env, file.to_str().expect("UTF-8"));
        }
        assert_eq!(job.ok().job()["write"]["total_ios"], 2, "{more}");
        assert_eq!(names(&objects), ["/x_0_4096", "/x_4096_4096"], "{more}");
        objects.0.lock().expect("no panic").clear();
    }
}

#[test]
fn blocks_are_objects_that_can_be_verified_and_trimmed() {
    let (web, objects) = store();
    let target = "--filename=/dav/x --http_user=me --http_pass=secret";
    let wrote = job(&web, &format!("{target} --rw=randwrite --verify=crc32c"))
        .ok()
        .job();
    for ddir in ["read", "write"] {
        assert_eq!(wrote[ddir]["total_ios"], BLOCKS, "{wrote}");
        assert_eq!(wrote[ddir]["io_bytes"], BLOCKS * 4096, "{wrote}");
    }
    let mut want: Vec<String> = (0..BLOCKS)
        .map(|n| format!("/dav/x_{}_4096", n * 4096))
        .collect();
    want.sort();
    assert_eq!(names(&objects), want);
    let requests = web.requests();
    let user = |value: &String| value == "Basic bWU6c2VjcmV0";
    assert!(
        requests
            .iter()
            .all(|r| r.headers.get("authorization").is_some_and(user))
    );
    // One that has changed is found.
    let damaged = "/dav/x_8192_4096".to_owned();
    objects
        .0
        .lock()
        .expect("no panic")
        .get_mut(&damaged)
        .expect("it is there")[1000] ^= 1;
    let found = job(&web, &format!("{target} --rw=read --verify=crc32c")).fails();
    assert_eq!(found.job()["error"], 84, "{found}");
    let trimmed = job(&web, &format!("{target} --rw=trim")).ok().job();
    assert_eq!(trimmed["trim"]["total_ios"], BLOCKS, "{trimmed}");
    assert!(names(&objects).is_empty());
    // What is not there reads as zeros, and can be trimmed.
    let zeros = "--rw=read --verify=pattern --verify_pattern=0x00";
    assert_eq!(
        job(&web, &format!("{target} {zeros}")).ok().job()["read"]["total_ios"],
        BLOCKS
    );
    job(&web, &format!("{target} --rw=trim")).ok();
}

#[test]
fn s3_requests_are_signed() {
    let objects = Arc::new(Objects::default());
    let kept = Arc::clone(&objects);
    let web = Web::start(
        move |request| match signed_with(request, "TOPSECRET", "eu-north-1") {
            true => kept.answer(request),
            false => (403, b"SignatureDoesNotMatch".to_vec()),
        },
    );
    let s3 = "--http_mode=s3 --http_s3_keyid=KEYID --http_s3_region=eu-north-1 --filename=/b/a+b";
    let right = format!("{s3} --http_s3_key=TOPSECRET");
    job(&web, &format!("{right} --rw=write --verify=sha256")).ok();
    assert!(names(&objects).contains(&"/b/a%2Bb_0_4096".to_owned()));
    let more = "--http_s3_security_token=tok --http_s3_storage_class=GLACIER \
                --http_s3_sse_customer_key=0123456789abcdef";
    job(&web, &format!("{right} {more} --rw=randrw")).ok();
    let last = web.requests().pop().expect("requests").headers;
    let want = [
        ("x-amz-security-token", "tok"),
        ("x-amz-storage-class", "GLACIER"),
        ("x-amz-server-side-encryption-customer-algorithm", "AES256"),
        (
            "x-amz-server-side-encryption-customer-key",
            "MDEyMzQ1Njc4OWFiY2RlZgAAAAAAAAAAAAAAAAAAAAA=",
        ),
    ];
    for (name, value) in want {
        assert_eq!(last.get(name).map(String::as_str), Some(value), "{name}");
    }
    job(&web, &format!("{right} --rw=trim")).ok();
    let wrong = job(&web, &format!("{s3} --http_s3_key=GUESSED --rw=write")).fails();
    assert_eq!(wrong.job()["error"], 5, "{wrong}");
    wrong.explains(&["PUT", "/b/a%2Bb_0_4096", "403"]);
    let without = job(&web, &format!("{s3} --rw=write")).fails();
    without.explains(&["http_s3_key="]);
}

#[test]
fn swift_has_a_token_and_checksums() {
    let (web, _) = store();
    let swift = "--http_mode=swift --http_swift_auth_token=TOKEN --filename=/v1/c/o";
    job(
        &web,
        &format!("{swift} --rw=write --zero_buffers=1 --number_ios=2"),
    )
    .ok();
    job(&web, &format!("{swift} --rw=read --number_ios=2")).ok();
    let requests = web.requests();
    assert_eq!(requests.len(), 4);
    for request in &requests {
        assert_eq!(request.headers["x-auth-token"], "TOKEN");
        let etag = request.headers.get("etag").map(String::as_str);
        // MD5 of 4096 zeros.
        let zeros = Some("620f0b67a91f7f74151bc5be745b7110");
        assert_eq!(etag, zeros.filter(|_| request.method == "PUT"));
    }
}

#[test]
fn ranges_of_one_object_are_read() {
    let (web, objects) = store();
    objects
        .0
        .lock()
        .expect("no panic")
        .insert("/big".into(), vec![7; 65536]);
    let words = "--http_object_mode=range --filename=/big --rw=randread --verify=pattern \
                 --verify_pattern=0x07";
    assert_eq!(job(&web, words).ok().job()["read"]["total_ios"], BLOCKS);
    let ranges = web
        .requests()
        .iter()
        .filter(|r| r.headers.contains_key("range"))
        .count();
    assert_eq!(ranges as u64, BLOCKS);
}

#[test]
fn errors_of_servers_are_errors_of_requests() {
    let web = Web::start(|request| match request.method.as_str() {
        "GET" => (200, vec![1; 100]),
        _ => (507, b"full".to_vec()),
    });
    let target = "--filename=/x";
    let wrote = job(
        &web,
        &format!("{target} --rw=write --continue_on_error=all"),
    )
    .run();
    let wrote = wrote.job();
    assert_eq!(wrote["total_err"], BLOCKS, "{wrote}");
    assert_eq!(wrote["error"], 5, "{wrote}");
    let read = job(&web, &format!("{target} --rw=read")).fails();
    read.explains(&["fewer than 4096 bytes"]);
    let sync = job(
        &web,
        &format!("{target} --rw=write --fsync=1 --continue_on_error=write"),
    );
    assert_eq!(sync.fails().job()["error"], 22);
    let nobody = fio("--name=a --ioengine=http --http_host=127.0.0.1:1 --rw=read --size=4k");
    nobody
        .env("NO_PROXY", "127.0.0.1")
        .fails()
        .explains(&["refused"]);
}

#[test]
fn offloaded_requests_do_not_wait_for_each_other() {
    // Answers nobody before four have asked: one who waits for answers never gets one.
    const PARTY: usize = 4;
    let waiting = Arc::new((Mutex::new(0_usize), Condvar::new()));
    let web = Web::start(move |_| {
        let (count, changed) = &*waiting;
        let mut arrived = count.lock().expect("no panic");
        *arrived += 1;
        changed.notify_all();
        let party = (*arrived).div_ceil(PARTY) * PARTY;
        let long = Duration::from_secs(60);
        let wait = changed.wait_timeout_while(arrived, long, |arrived| *arrived < party);
        let timed_out = wait.expect("no panic").1.timed_out();
        (if timed_out { 500 } else { 200 }, vec![0; 4096])
    });
    let paced = "--filename=/x --rw=read --iodepth=4 --io_submit_mode=offload --rate_iops=500";
    let read = job(&web, paced).ok().job();
    assert_eq!(read["read"]["total_ios"], BLOCKS, "{read}");
    // The first of a party waits for three more, which come 2 ms apart.
    let most = read["read"]["lat_ns"]["max"].as_u64().expect("a number");
    assert!(most > 5_000_000, "{read}");
    assert_eq!(web.requests().len() as u64, BLOCKS);
}

#[test]
fn offloaded_jobs_do_what_inline_ones_do() {
    let scratch = Scratch::new("offload");
    let engines = [
        "sync", "psync", "vsync", "pvsync2", "libaio", "posixaio", "mmap",
    ];
    for engine in engines {
        let words = format!(
            "--name=a --filename=f --size=1m --rw=randwrite --bsrange=512-16k --iodepth=6 \
             --ioengine={engine} --io_submit_mode=offload --verify=crc32c --fsync=20 \
             --output-format=json"
        );
        let run = |more: &str| {
            fio(&words)
                .args(more.split_whitespace())
                .in_dir(scratch.path())
        };
        let job = run("").ok().job();
        assert_eq!(job["write"]["io_bytes"], 1 << 20, "{engine}: {job}");
        assert_eq!(job["read"]["io_bytes"], 1 << 20, "{engine}: {job}");
        let flushed = job["sync"]["total_ios"].as_u64().expect("a number");
        assert_eq!(
            flushed,
            job["write"]["total_ios"].as_u64().expect("a number") / 20
        );
        // Others find what was written.
        run("--io_submit_mode=inline --verify_only=1").ok();
    }
    for engine in ["io_uring", "net", "cpuio", "exec", "filecreate"] {
        let words = format!("--name=a --ioengine={engine} --size=4k --io_submit_mode=offload");
        let refused = fio(&words).fails();
        assert!(
            refused.stderr.contains("io_submit_mode=offload"),
            "{refused}"
        );
    }
}
