#!/bin/sh
# Runs the hook of .pre-commit-hooks.yaml with the real pre-commit, on a git repository with a sound and with a broken model.
# pre-commit comes from build/venv (scripts/setup.sh) or, when it is not there, from pip into a temporary environment.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
bin=${1:-$root/build/modelcheck}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

if [ -x build/venv/bin/pre-commit ]; then
    precommit=$root/build/venv/bin/pre-commit
else
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install -q --disable-pip-version-check pre-commit
    precommit=$work/venv/bin/pre-commit
fi

export HOME="$work/home" PRE_COMMIT_HOME="$work/cache" GIT_CONFIG_NOSYSTEM=1
mkdir -p "$HOME" "$work/bin"
cp "$bin" "$work/bin/modelcheck"
PATH=$work/bin:$PATH
git config --global user.name test
git config --global user.email test@localhost
git config --global init.defaultBranch main
git config --global protocol.file.allow always

# The repository of the hook: what pre-commit needs of it is this one file.
git init -q "$work/hooks"
cp .pre-commit-hooks.yaml "$work/hooks/"
git -C "$work/hooks" add -A
git -C "$work/hooks" commit -q -m hooks
rev=$(git -C "$work/hooks" rev-parse HEAD)

# The repository of a user.
git init -q "$work/user"
cd "$work/user"
printf 'repos:\n- repo: %s\n  rev: %s\n  hooks:\n  - id: modelcheck\n' "$work/hooks" "$rev" > .pre-commit-config.yaml
"$precommit" install >/dev/null
cp -R "$root/fixtures/sample" good
echo "words" > notes.txt

expect() { # name, wanted status, wanted text, command...
    name=$1 want=$2 text=$3
    shift 3
    status=0
    "$@" > "$work/log" 2>&1 || status=$?
    if [ "$status" -eq "$want" ] && grep -q -- "$text" "$work/log"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name: status $status, expected $want and \"$text\""
        cat "$work/log"
    fi
}

git add -A
expect "a sound model is committed" 0 "modelcheck.*Passed" git commit -m "sound model"
cp -R good bad
shard=$(find bad -name '*-00001-of-*.safetensors')
head -c 1500 "$shard" > "$work/cut" && cp "$work/cut" "$shard"
git add -A
expect "a truncated shard stops the commit" 1 "error MC306 st-truncated" git commit -m "broken model"
expect "the exit status of the hook is that of the program" 1 "exit code: 1" git commit -m "broken model"
cp "good/$(basename "$shard")" "$shard"
git add -A
expect "the repaired model is committed" 0 "modelcheck.*Passed" git commit -m "repaired model"
echo "more words" >> notes.txt
git add -A
expect "other files do not call it" 0 "Skipped" git commit -m "words"
expect "all files at once" 0 "modelcheck.*Passed" "$precommit" run --all-files
rm "good/$(basename "$shard")"
git rm -q --cached "good/$(basename "$shard")"
echo >> good/model.safetensors.index.json
git add -A
expect "a shard that is missing stops the commit" 1 "error MC106 shard-missing" git commit -m "one shard less"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
