#!/bin/sh
# Runs the line $1 on a machine of two, as far as processes can tell: each has a name, a network address
# (10.77.0.1 and 10.77.0.2), and a disk of its own at ./disk; all else they share. `./on_b COMMAND...` runs
# a command on the other; `./agent HOST COMMAND...` the same, as launchers call ssh. To be run by
# `unshare --mount --uts --net --propagation private`.
set -e
hostname a
mkdir disk
mount -t tmpfs -o size=64m none disk
ip link set lo up
mkfifo end
unshare --mount --uts --net --propagation private sh -c '
    hostname b
    mount -t tmpfs -o size=64m none disk
    ip link set lo up
    echo $$ > pid.new
    mv pid.new pid
    read line < end' &
until test -e pid; do :; done
other=$(cat pid)
ip link add va type veth peer name vb netns "$other"
ip addr add 10.77.0.1/24 dev va
ip link set va up
nsenter -t "$other" -n ip addr add 10.77.0.2/24 dev vb
nsenter -t "$other" -n ip link set vb up
{
    # The option --wd would be the directory as it is seen here.
    echo '#!/bin/sh'
    echo "exec nsenter -t $other -m -u -n sh -c 'cd \"$PWD\" && exec \"\$@\"' sh \"\$@\""
} > on_b
{
    echo '#!/bin/sh'
    echo 'shift'
    echo './on_b sh -c "$*"'
} > agent
chmod +x on_b agent
status=0
sh -c "$1" || status=$?
echo > end
wait
exit $status
