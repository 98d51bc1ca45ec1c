#!/bin/sh
# First and only process: prepares the machine, runs the scenario, switches off.
/bin/busybox --install -s /bin
export PATH=/bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp
while read -r module; do insmod "/modules/$module" || echo "FAIL insmod $module"; done </modules/list
# NVMe namespaces appear a moment after their driver.
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -e /dev/nvme0n1 ] && break; sleep 0.1; done
cd /tmp || exit
stage=$(sed 's/.*lab.stage=\([0-9]*\).*/\1/' /proc/cmdline)

# check NAME COMMAND..: passes if the command does.
check() {
    name=$1
    shift
    if "$@" >/tmp/out 2>/tmp/err; then
        echo "PASS $name"
    else
        echo "FAIL $name: exit $?: $(head -c 600 /tmp/err | tr '\n' ' ')"
    fi
}

# refused NAME TEXT COMMAND..: passes if the command fails and says TEXT.
refused() {
    name=$1
    text=$2
    shift 2
    if "$@" >/tmp/out 2>/tmp/err; then
        echo "FAIL $name: it succeeded"
    elif grep -q -- "$text" /tmp/err; then
        echo "PASS $name"
    else
        echo "FAIL $name: $(head -c 600 /tmp/err | tr '\n' ' ')"
    fi
}

# value KEY FILE: the first number after "KEY" : in a JSON file.
value() {
    grep -m1 "\"$1\"" "$2" | sed 's/.*: *//; s/[^0-9.-].*//'
}

# same NAME ACTUAL EXPECTED
same() {
    if [ "$2" = "$3" ]; then echo "PASS $1"; else echo "FAIL $1: $2, not $3"; fi
}

. /scenario
echo "LAB DONE"
poweroff -f
