//! What decides how fast the cores run, and whether they are real: name, governor, boost, SMT,
//! hypervisor, the kernel's own moving of pages.

use crate::Root;
use crate::root::attribute;

/// Facts for the conditions of a measurement; each is `None` where the system does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Processor {
    /// `model name` of the first CPU, or what identifies an ARM core.
    pub name: String,
    /// The cpufreq governor of the first CPU.
    pub governor: Option<String>,
    /// Frequencies above the base are allowed.
    pub boost: Option<bool>,
    /// Several hardware threads share a core.
    pub smt: Option<bool>,
    /// Who runs this machine as a guest; `unknown` for a hypervisor without a name.
    pub hypervisor: Option<String>,
    /// The kernel moves pages towards the CPUs that use them.
    pub numa_balancing: Option<bool>,
}

impl Processor {
    /// Reads what there is.
    pub fn read(root: &Root) -> Processor {
        let info = root.text("proc/cpuinfo").unwrap_or_default();
        let field = |key: &str| {
            info.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                (name.trim() == key).then(|| value.trim().to_owned())
            })
        };
        let arm = || {
            let implementer = field("CPU implementer")?;
            let part = field("CPU part").unwrap_or_default();
            Some(format!("ARM implementer {implementer} part {part}"))
        };
        let cpu = root.path("sys/devices/system/cpu");
        let flag = |name: &str| attribute::<u32>(&cpu, name).map(|value| value != 0);
        let no_turbo = flag("intel_pstate/no_turbo");
        Processor {
            name: field("model name").or_else(arm).unwrap_or_default(),
            governor: attribute(&cpu, "cpu0/cpufreq/scaling_governor"),
            boost: flag("cpufreq/boost").or(no_turbo.map(|off| !off)),
            smt: flag("smt/active"),
            hypervisor: hypervisor(root, &field("flags").unwrap_or_default()),
            numa_balancing: attribute::<u32>(&root.path("proc/sys/kernel"), "numa_balancing")
                .map(|value| value != 0),
        }
    }
}

/// Products whose vendors sell virtual machines under them.
const GUESTS: [(&str, &str); 9] = [
    ("KVM", "KVM"),
    ("QEMU", "QEMU"),
    ("Firecracker", "Firecracker"),
    ("VMware", "VMware"),
    ("VirtualBox", "VirtualBox"),
    ("Virtual Machine", "Hyper-V"),
    ("Amazon EC2", "Amazon EC2"),
    ("Google Compute Engine", "Google Compute Engine"),
    ("OpenStack", "OpenStack"),
];

fn hypervisor(root: &Root, flags: &str) -> Option<String> {
    if let Some(kind) = attribute::<String>(&root.path("sys/hypervisor"), "type") {
        return Some(kind);
    }
    let guest = flags.split_whitespace().any(|flag| flag == "hypervisor");
    let dmi = root.path("sys/class/dmi/id");
    let words: Vec<String> = ["sys_vendor", "product_name", "bios_vendor"]
        .into_iter()
        .filter_map(|name| attribute(&dmi, name))
        .collect();
    let named = GUESTS.iter().find(|(word, _)| {
        let holds = |text: &String| text.contains(word);
        words.iter().any(holds)
    });
    let is_metal = words.iter().any(|text| text.contains(".metal"));
    match (guest, named) {
        (_, Some((_, name))) if !is_metal => Some((*name).to_owned()),
        (true, _) => Some("unknown".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = Root::at(dir.path());
        (dir, root)
    }

    #[test]
    fn a_server() {
        let (_dir, root) = tree(&[
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz\nflags\t\t: fpu\n",
            ),
            ("proc/sys/kernel/numa_balancing", "1\n"),
            (
                "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                "performance\n",
            ),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
            ("sys/devices/system/cpu/smt/active", "1\n"),
            ("sys/class/dmi/id/sys_vendor", "Some Vendor\n"),
        ]);
        let want = Processor {
            name: "Some CPU @ 2.00GHz".into(),
            governor: Some("performance".into()),
            boost: Some(false),
            smt: Some(true),
            hypervisor: None,
            numa_balancing: Some(true),
        };
        assert_eq!(Processor::read(&root), want);
    }

    #[test]
    fn guests_with_and_without_a_name() {
        let flags = "flags\t\t: fpu hypervisor lahf_lm\n";
        let (_dir, root) = tree(&[("proc/cpuinfo", flags)]);
        let guest = Processor::read(&root);
        assert_eq!(guest.hypervisor.as_deref(), Some("unknown"));
        assert_eq!((guest.governor, guest.boost, guest.smt), (None, None, None));
        let product = ("sys/class/dmi/id/product_name", "Virtual Machine\n");
        let (_dir, root) = tree(&[("proc/cpuinfo", flags), product]);
        assert_eq!(
            Processor::read(&root).hypervisor.as_deref(),
            Some("Hyper-V")
        );
        let metal = [
            ("proc/cpuinfo", "flags: fpu\n"),
            ("sys/class/dmi/id/sys_vendor", "Amazon EC2\n"),
            ("sys/class/dmi/id/product_name", "c5.metal\n"),
        ];
        let (_dir, root) = tree(&metal);
        assert_eq!(Processor::read(&root).hypervisor, None);
    }

    #[test]
    fn an_arm_core_has_numbers_for_a_name() {
        let text = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        let (_dir, root) = tree(&[("proc/cpuinfo", text)]);
        let name = Processor::read(&root).name;
        assert_eq!(name, "ARM implementer 0x41 part 0xd0c");
    }
}
