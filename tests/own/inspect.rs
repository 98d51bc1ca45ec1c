//! `assay inspect`.

use super::{as_nobody, assay};
use crate::harness::{LoopDisk, Mounted, fio, skip};
use serde_json::Value;

fn device<'a>(host: &'a Value, name: &str) -> &'a Value {
    let devices = host["devices"].as_array().expect("devices");
    let found = devices.iter().find(|device| device["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {host:#}"))
}

#[test]
fn a_mounted_image_is_shown_from_file_to_file_system() {
    let mounted = match Mounted::ext4(32) {
        Ok(mounted) => mounted,
        Err(why) => return skip("inspect", &why),
    };
    let path = mounted.disk.device().to_str().expect("UTF-8").to_owned();
    let name = path.trim_start_matches("/dev/").to_owned();
    let host = assay(&format!("inspect --json {path}")).ok().json();
    let disk = device(&host, &name);
    assert_eq!(disk["kind"], "loop");
    assert_eq!(disk["size_bytes"], 32 << 20);
    assert_eq!(disk["signatures"][0]["name"], "ext4");
    assert_eq!(disk["direct"]["offset_bytes"], disk["logical_block_bytes"]);
    let place = mounted.path().to_str().expect("UTF-8");
    assert_eq!(disk["mounts"], serde_json::json!([place]));
    assert!(
        disk["backing"]["path"]
            .as_str()
            .is_some_and(|file| file.ends_with("/image"))
    );
    // The image lies on a file system of its own, which has a device below it or none.
    assert!(disk["backing"]["mount_point"].is_string());
    let systems = host["file_systems"].as_array().expect("file systems");
    let ext4 = systems
        .iter()
        .find(|system| system["mount_points"][0] == place);
    let ext4 = ext4.unwrap_or_else(|| panic!("no file system at {place} in {host:#}"));
    assert!(ext4["available_bytes"].as_u64() < Some(32 << 20));
    assert_eq!(ext4["geometry"]["stripe_unit_bytes"], 0);

    let below = assay(&format!("inspect --json {place}")).ok().json();
    assert_eq!(below["targets"][0]["devices"], serde_json::json!([name]));
    let text = assay(&format!("inspect {place}")).ok().stdout;
    for part in [
        &format!("{name}  loop device"),
        "ext4 at",
        "content   ext4 file system",
    ] {
        assert!(text.contains(part), "{part} missing:\n{text}");
    }
}

#[test]
fn without_rights_it_shows_what_everybody_may_see() {
    let words = fio("inspect --json");
    if !crate::harness::place::is_root() || !crate::harness::command::have("setpriv") {
        return skip("inspect without rights", "needs root and setpriv");
    }
    let outcome = as_nobody(&words).wait().expect_ok();
    let host = outcome.json();
    let all = assay("inspect --json").ok().json();
    let names = |host: &Value| -> Vec<String> {
        let list = host["devices"].as_array().expect("devices");
        let disks = list.iter().filter(|device| device["kind"] == "disk");
        disks.map(|device| device["name"].to_string()).collect()
    };
    assert_eq!(names(&host), names(&all));
    assert_eq!(host["kernel"], all["kernel"]);
    let devices = host["devices"].as_array().expect("devices");
    assert!(devices.iter().all(|device| device["probed"] == false));
}

#[test]
fn an_empty_device_has_no_signature_and_a_missing_one_is_named() {
    let disk = match LoopDisk::new(8) {
        Ok(disk) => disk,
        Err(why) => return skip("inspect an empty device", &why),
    };
    let path = disk.device().to_str().expect("UTF-8");
    let host = assay(&format!("inspect --json {path}")).ok().json();
    let shown = device(&host, path.trim_start_matches("/dev/"));
    assert_eq!(
        (&shown["probed"], &shown["signatures"]),
        (&true.into(), &serde_json::json!([]))
    );
    assay("inspect /no/such/place").refuses(&["/no/such/place"]);
}
