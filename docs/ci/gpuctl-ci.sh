#!/bin/sh
# gpuctl in a pipeline: validate with reports, plan as one comment, render or apply.
#
#   gpuctl-ci validate        check the blueprints; SARIF, JUnit and code-quality reports
#   gpuctl-ci plan            what they would change, as plan.md; as a comment, too, where asked for
#   gpuctl-ci comment FILE    write FILE as a comment of the pull request, or over the one that is there
#   gpuctl-ci render          write the manifests into a directory
#   gpuctl-ci apply           commit them to the repository that the cluster follows
#   gpuctl-ci unpack          check an archive against its digest, unpack it, print where gpuctl is
#
# Everything is set by variables, so that no value of a user becomes part of a command:
#
#   GPUCTL_CI_BLUEPRINTS   files or patterns, one a line
#   GPUCTL_CI_ARGUMENTS    further options of gpuctl, one word a line
#   GPUCTL_CI_REPORTS      directory for reports and plan.md (gpuctl-reports)
#   GPUCTL_CI_REPO         repository of plan and apply: a path or an address
#   GPUCTL_CI_BRANCH       its branch; empty: its default branch
#   GPUCTL_CI_OUTPUT       directory of render (gpuctl-output)
#   GPUCTL_CI_GIT_TOKEN    password for an https address of the repository, if git has none
#   GPUCTL_CI_GIT_USER     the user that goes with it (x-access-token)
#   GPUCTL_CI_COMMENT      true: plan writes a comment
#   GPUCTL_CI_KEY          tells several comments of one pull request apart (plan)
#   GPUCTL_CI_FORGE        github or gitlab; by itself known where the pipeline runs on one of them
#   GPUCTL_CI_API          address of its REST API; known as above, as are the next two
#   GPUCTL_CI_PROJECT      owner/name, or the number of the project
#   GPUCTL_CI_CHANGE       number of the pull request or merge request
#   GPUCTL_CI_AUTHOR       only comments of this account are replaced; empty: any with our mark
#   GPUCTL_CI_TOKEN        token for comments
#   GPUCTL_CI_ARCHIVE      path or https address of an archive with gpuctl
#   GPUCTL_CI_SHA256       its digest
#   GPUCTL                 the program (gpuctl)
#
# Requires git, and for comments curl and jq (1.6). Tokens are in no argument, no log and no file that stays.
{ set +x; } 2>/dev/null # a trace would show them
set -eu

# gpuctl gets neither token: a blueprint that nobody has reviewed may name variables as secrets. The
# others are those of gitlab/gpuctl.yml, which the job has besides.
comment_token=${GPUCTL_CI_TOKEN:-}
git_token=${GPUCTL_CI_GIT_TOKEN:-}
unset GPUCTL_CI_TOKEN GPUCTL_CI_GIT_TOKEN
unset GPUCTL_COMMENT_TOKEN GPUCTL_FLEET_READ_TOKEN GPUCTL_FLEET_WRITE_TOKEN

: "${GPUCTL:=gpuctl}"
: "${GPUCTL_CI_REPORTS:=gpuctl-reports}"
# Longest comment in bytes. GitHub takes 65,536 characters, GitLab 1,000,000.
most_bytes=65000
line_feed='
'
carriage_return=$(printf '\r')

die() {
  printf 'gpuctl-ci: %s\n' "$1" >&2
  exit "${2:-1}"
}

need() {
  command -v "$1" >/dev/null 2>&1 || die "$1 is not here: $2"
}

scratch=
at_exit() {
  if [ -n "$scratch" ]; then rm -rf "$scratch"; fi
}
trap at_exit EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
make_scratch() {
  if [ -z "$scratch" ]; then scratch=$(mktemp -d "${TMPDIR:-/tmp}/gpuctl-ci.XXXXXX"); fi
}

# Runs gpuctl with the words given, the user's own, and the blueprints. What it prints may quote
# a file that nobody has reviewed: on GitHub no line of it is read as a command of the runner.
run_gpuctl() {
  old_ifs=$IFS
  IFS=$line_feed
  set -f
  for word in ${GPUCTL_CI_ARGUMENTS:-}; do set -- "$@" "$word"; done
  set -- "$@" --
  set +f
  # Patterns are expanded here; a word that matches nothing stays, and gpuctl says so.
  for word in ${GPUCTL_CI_BLUEPRINTS:-}; do set -- "$@" "$word"; done
  IFS=$old_ifs
  "$GPUCTL" "$@"
}

guarded() {
  if [ "${GITHUB_ACTIONS:-}" != true ]; then
    "$@"
    return
  fi
  mark=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  printf '::stop-commands::%s\n' "$mark"
  status=0
  "$@" 2>&1 || status=$?
  printf '::%s::\n' "$mark"
  return "$status"
}

check_input() {
  [ -n "${GPUCTL_CI_BLUEPRINTS:-}" ] || die 'GPUCTL_CI_BLUEPRINTS names no file' 64
  command -v "$GPUCTL" >/dev/null 2>&1 ||
    die "$GPUCTL is not here: use an image that has it, or unpack an archive"
}

# The findings beside the lines of the change, where the runner shows them.
annotate() {
  if [ "${GITHUB_ACTIONS:-}" != true ] || ! command -v jq >/dev/null 2>&1; then return 0; fi
  jq -r '
    def data: gsub("%"; "%25") | gsub("\r"; "%0D") | gsub("\n"; "%0A");
    def property: data | gsub(":"; "%3A") | gsub(","; "%2C");
    .[] | {critical: "error", minor: "warning", info: "notice"}[.severity] as $level
    | "::\($level) file=\(.location.path | property),line=\(.location.lines.begin),title=\(.check_name | property)::\(.description | data)"
  ' "$GPUCTL_CI_REPORTS/code-quality.json"
}

validate() {
  check_input
  mkdir -p "$GPUCTL_CI_REPORTS"
  rm -f "$GPUCTL_CI_REPORTS/gpuctl.sarif" "$GPUCTL_CI_REPORTS/junit.xml" "$GPUCTL_CI_REPORTS/code-quality.json"
  status=0
  guarded run_gpuctl validate --report "sarif=$GPUCTL_CI_REPORTS/gpuctl.sarif" \
    --report "junit=$GPUCTL_CI_REPORTS/junit.xml" \
    --report "codequality=$GPUCTL_CI_REPORTS/code-quality.json" || status=$?
  if [ -f "$GPUCTL_CI_REPORTS/code-quality.json" ]; then annotate; fi
  return "$status"
}

# Lets git answer for the repository of this run, and for no other host, from a private file.
offer_token() {
  if [ -z "$git_token" ]; then return 0; fi
  case $GPUCTL_CI_REPO in
    https://*) GPUCTL_CI_GIT_HOST=${GPUCTL_CI_REPO#https://} ;;
    http://localhost[:/]* | http://127.0.0.1[:/]*) GPUCTL_CI_GIT_HOST=${GPUCTL_CI_REPO#http://} ;;
    *) die 'GPUCTL_CI_GIT_TOKEN goes with an https address alone' 64 ;;
  esac
  GPUCTL_CI_GIT_HOST=${GPUCTL_CI_GIT_HOST%%/*}
  GPUCTL_CI_GIT_HOST=${GPUCTL_CI_GIT_HOST##*@}
  : "${GPUCTL_CI_GIT_USER:=x-access-token}"
  make_scratch
  cat >"$scratch/askpass" <<'END'
#!/bin/sh
case $1 in
  Username*"://$GPUCTL_CI_GIT_HOST"[/\']*) printf '%s\n' "$GPUCTL_CI_GIT_USER" ;;
  Password*"@$GPUCTL_CI_GIT_HOST"[/\']*) cat "${0%/*}/password" ;;
  *) exit 1 ;;
esac
END
  chmod 700 "$scratch/askpass"
  (umask 077 && printf '%s\n' "$git_token" >"$scratch/password")
  GIT_ASKPASS=$scratch/askpass
  export GIT_ASKPASS GPUCTL_CI_GIT_HOST GPUCTL_CI_GIT_USER
}

# Runs a command of gpuctl on the repository.
on_repository() {
  command=$1
  shift
  set -- "$command" --repo "$GPUCTL_CI_REPO" "$@"
  if [ -n "${GPUCTL_CI_BRANCH:-}" ]; then set -- "$@" --branch "$GPUCTL_CI_BRANCH"; fi
  run_gpuctl "$@"
}

plan() {
  check_input
  [ -n "${GPUCTL_CI_REPO:-}" ] || die 'GPUCTL_CI_REPO names no repository' 64
  offer_token
  make_scratch
  mkdir -p "$GPUCTL_CI_REPORTS"
  planned=0
  on_repository plan -o markdown >"$scratch/markdown" 2>"$scratch/messages" || planned=$?
  guarded cat "$scratch/markdown" "$scratch/messages"
  [ "$planned" -ne 64 ] || return "$planned"
  {
    if [ -s "$scratch/markdown" ]; then
      cat "$scratch/markdown"
    else
      printf '**gpuctl plan: failed**\n'
    fi
    if [ -s "$scratch/messages" ]; then
      printf '\n<details><summary>Messages</summary>\n\n'
      cut_to $((most_bytes - $(wc -c <"$scratch/markdown") - 1000)) 4 <"$scratch/messages"
      printf '\n</details>\n'
    fi
  } >"$GPUCTL_CI_REPORTS/plan.md"
  if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat "$GPUCTL_CI_REPORTS/plan.md" >>"$GITHUB_STEP_SUMMARY"; fi
  if [ "${GPUCTL_CI_COMMENT:-}" = true ]; then comment "$GPUCTL_CI_REPORTS/plan.md"; fi
  return "$planned"
}

# Whole lines of the input, each behind $2 spaces, as far as they fit into $1 bytes.
cut_to() {
  LC_ALL=C awk -v most="$1" -v spaces="$2" '
    BEGIN { before = sprintf("%" spaces "s", "") }
    { size += length(before) + length($0) + 1 }
    size > most { print before "... (cut)"; exit }
    { print before $0 }'
}

# Fills in what the forge tells of itself, and checks it: it becomes a part of an address.
know_forge() {
  if [ -z "${GPUCTL_CI_FORGE:-}" ]; then
    if [ "${GITHUB_ACTIONS:-}" = true ]; then
      GPUCTL_CI_FORGE=github
    elif [ "${GITLAB_CI:-}" = true ]; then
      GPUCTL_CI_FORGE=gitlab
    fi
  fi
  case ${GPUCTL_CI_FORGE:-} in
    github)
      : "${GPUCTL_CI_API:=${GITHUB_API_URL:-https://api.github.com}}"
      : "${GPUCTL_CI_PROJECT:=${GITHUB_REPOSITORY:-}}"
      if [ -z "${GPUCTL_CI_CHANGE:-}" ] && [ -f "${GITHUB_EVENT_PATH:-}" ]; then
        GPUCTL_CI_CHANGE=$(jq -r '.pull_request.number // empty' "$GITHUB_EVENT_PATH")
      fi
      ;;
    gitlab)
      : "${GPUCTL_CI_API:=${CI_API_V4_URL:-https://gitlab.com/api/v4}}"
      : "${GPUCTL_CI_PROJECT:=${CI_PROJECT_ID:-}}"
      : "${GPUCTL_CI_CHANGE:=${CI_MERGE_REQUEST_IID:-}}"
      ;;
    *) die 'GPUCTL_CI_FORGE is neither github nor gitlab' 64 ;;
  esac
  case $GPUCTL_CI_API in
    https://* | http://127.0.0.1:* | http://localhost:*) ;;
    *) die 'GPUCTL_CI_API is no https address' 64 ;;
  esac
  case ${GPUCTL_CI_CHANGE:-} in
    '' | *[!0-9]*) die 'GPUCTL_CI_CHANGE is no number of a pull request: this is no run for one' 64 ;;
  esac
  case $GPUCTL_CI_FORGE:$GPUCTL_CI_PROJECT in
    *: | *[!A-Za-z0-9._:/-]* | *..*) die 'GPUCTL_CI_PROJECT names no project' 64 ;;
  esac
}

# METHOD ADDRESS [BODY]: asks the forge; the answer is in $scratch/answer.
ask() {
  set -- "$1" "$2" ${3:+--data-binary "@$3"}
  method=$1
  address=$2
  shift 2
  # Only what changes nothing is asked again after a failure: another POST is another comment.
  if [ "$method" = GET ]; then set -- --retry 3 "$@"; fi
  code=$(curl --disable --silent --show-error --proto '=https,http' --max-redirs 0 --max-time 60 \
    --header "@$scratch/headers" --request "$method" --output "$scratch/answer" --write-out '%{http_code}' \
    "$@" "$address") || die "no answer from $GPUCTL_CI_API"
  case $code in
    2??) ;;
    401 | 403) die "$GPUCTL_CI_API refuses the token: $code for $method of a comment" ;;
    *) die "$GPUCTL_CI_API answers $code to $method of a comment" ;;
  esac
}

# The number of our comment, if there is one, out of a page of them.
own_comment() {
  jq -r --arg mark "$1" --arg author "${GPUCTL_CI_AUTHOR:-}" '
    map(select((.body // "") | startswith($mark))
        | select($author == "" or (.user // .author | .login // .username) == $author))
    | first | .id // empty | tostring' "$scratch/answer"
}

comment() {
  [ -f "${1:-}" ] || die 'comment: no such file' 64
  need curl 'comments go through it'
  need jq 'comments are JSON'
  know_forge
  token=$comment_token
  [ -n "$token" ] || die 'GPUCTL_CI_TOKEN is empty: a comment takes a token' 64
  case $token in
    *"$line_feed"* | *"$carriage_return"*) die 'GPUCTL_CI_TOKEN has several lines' 64 ;;
  esac
  key=${GPUCTL_CI_KEY:-plan}
  case $key in *[!A-Za-z0-9._-]*) die 'GPUCTL_CI_KEY has other characters than letters, digits, . _ -' 64 ;; esac
  make_scratch
  if [ "$GPUCTL_CI_FORGE" = github ]; then
    comments=$GPUCTL_CI_API/repos/$GPUCTL_CI_PROJECT/issues/$GPUCTL_CI_CHANGE/comments
    one=$GPUCTL_CI_API/repos/$GPUCTL_CI_PROJECT/issues/comments
    change_method=PATCH
    printf 'Authorization: Bearer %s\nAccept: application/vnd.github+json\nX-GitHub-Api-Version: 2022-11-28\n' \
      "$token" >"$scratch/headers"
  else
    comments=$GPUCTL_CI_API/projects/$(printf '%s' "$GPUCTL_CI_PROJECT" | sed 's,/,%2F,g')
    comments=$comments/merge_requests/$GPUCTL_CI_CHANGE/notes
    one=$comments
    change_method=PUT
    printf 'PRIVATE-TOKEN: %s\n' "$token" >"$scratch/headers"
  fi
  printf 'Content-Type: application/json\n' >>"$scratch/headers"
  mark="<!-- gpuctl-ci $key -->"
  { printf '%s\n' "$mark" && cut_to $((most_bytes - 100)) 0 <"$1"; } >"$scratch/text"
  jq -n --rawfile body "$scratch/text" '{body: $body}' >"$scratch/body"
  page=1
  while :; do
    ask GET "$comments?per_page=100&page=$page"
    number=$(own_comment "$mark")
    if [ -n "$number" ] || [ "$(jq length "$scratch/answer")" -eq 0 ]; then break; fi
    page=$((page + 1))
  done
  case $number in
    '') ask POST "$comments" "$scratch/body" && printf 'gpuctl-ci: wrote a comment\n' ;;
    *[!0-9]*) die "$GPUCTL_CI_API gives a comment no number" ;;
    *) ask "$change_method" "$one/$number" "$scratch/body" && printf 'gpuctl-ci: replaced comment %s\n' "$number" ;;
  esac
}

render() {
  check_input
  guarded run_gpuctl render -o "${GPUCTL_CI_OUTPUT:-gpuctl-output}"
}

apply() {
  check_input
  [ -n "${GPUCTL_CI_REPO:-}" ] || die 'GPUCTL_CI_REPO names no repository' 64
  offer_token
  guarded on_repository apply
}

unpack() {
  case ${GPUCTL_CI_SHA256:-} in
    *[!0-9a-f]*) die 'GPUCTL_CI_SHA256 is no digest: 64 digits of 0-9 and a-f' 64 ;;
  esac
  [ "${#GPUCTL_CI_SHA256}" -eq 64 ] || die 'GPUCTL_CI_SHA256 is no digest: 64 digits of 0-9 and a-f' 64
  target=${1:-}
  [ -n "$target" ] || die 'unpack: where to?' 64
  make_scratch
  case ${GPUCTL_CI_ARCHIVE:-} in
    https://*)
      need curl 'the archive is fetched by it'
      curl --disable --silent --show-error --fail --location --proto '=https' --max-time 300 --output "$scratch/archive" \
        "$GPUCTL_CI_ARCHIVE" || die 'the archive cannot be fetched'
      ;;
    *)
      [ -f "${GPUCTL_CI_ARCHIVE:-}" ] || die 'GPUCTL_CI_ARCHIVE is neither a file nor an https address' 64
      cp -- "$GPUCTL_CI_ARCHIVE" "$scratch/archive"
      ;;
  esac
  printf '%s  %s\n' "$GPUCTL_CI_SHA256" "$scratch/archive" | sha256sum -c - >/dev/null 2>&1 ||
    die 'the archive has another digest than GPUCTL_CI_SHA256: nothing of it was unpacked'
  mkdir -p "$target"
  tar -xf "$scratch/archive" -C "$target"
  found=$(find "$target" -type f -name gpuctl -perm -u+x)
  case $found in
    '' | *"$line_feed"*) die 'the archive has not exactly one program gpuctl' ;;
  esac
  printf '%s\n' "$found"
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
  validate | plan | comment | render | apply | unpack) "$command" "$@" ;;
  *) die 'one of validate, plan, comment FILE, render, apply, unpack DIRECTORY is wanted' 64 ;;
esac
