#!/bin/sh
# Makes the GPU pools of GKE cluster search-prod-1 with gcloud, which is there already.
#
#   sh create.sh
#
# Needs gcloud, logged in to an account with the roles that prerequisites.md lists. It may run as often as you
# like: it makes what is missing, and what is there stays as it is, whatever this file says about it.
# shellcheck disable=SC2016  # names may hold characters that mean something outside of quotes
set -eu

project='example-search'
location='europe-west4'
region='europe-west4'
cluster='search-prod-1'
account='gke-nodes@example-search.iam.gserviceaccount.com'

cloud() { gcloud "$@" --project="$project" --quiet; }
kept() { printf '%s is there and stays as it is\n' "$1"; }

# exists FIELD COMMAND...: whether COMMAND describes something; its FIELD is in answer.
exists() {
  field=$1
  shift
  if answer=$(cloud "$@" --format="value($field)" 2>&1); then return 0; fi
  case $answer in
    *'not found'* | *'Not found'* | *NOT_FOUND* | *'does not exist'*) return 1 ;;
  esac
  printf '%s\n' "$answer" >&2
  exit 1
}

# A new account is not known everywhere at once.
grant() {
  tries=1
  until cloud projects add-iam-policy-binding "$project" --member="serviceAccount:$account" --role="$1" \
    --condition=None --format=none; do
    [ "$tries" -lt 6 ] || return 1
    tries=$((tries + 1))
    sleep 10
  done
}

# make_pool NAME FLAG...
make_pool() {
  pool=$1
  shift
  if exists status container node-pools describe "$pool" --cluster="$cluster" --location="$location"; then
    kept "node pool $pool ($answer)"
    return 0
  fi
  cloud container node-pools create "$pool" --cluster="$cluster" --location="$location" \
    --service-account="$account" --workload-metadata=GKE_METADATA --shielded-integrity-monitoring \
    --enable-autoupgrade "$@"
}

echo "project $project, region $region"

if ! exists status container clusters describe "$cluster" --location="$location"; then
  printf 'there is no cluster %s in %s\n' "$cluster" "$location" >&2
  exit 1
fi
kept "cluster $cluster ($answer)"

make_pool 'l4' \
  '--node-locations=europe-west4-a,europe-west4-b' \
  '--num-nodes=0' \
  '--enable-autoscaling' \
  '--total-min-nodes=0' \
  '--total-max-nodes=4' \
  '--location-policy=ANY' \
  '--enable-autorepair' \
  '--max-surge-upgrade=0' \
  '--max-unavailable-upgrade=1' \
  '--machine-type=g2-standard-8' \
  '--accelerator=type=nvidia-l4,count=1,gpu-driver-version=default' \
  '--image-type=COS_CONTAINERD' \
  '--disk-size=200' \
  '--disk-type=pd-balanced' \
  '--reservation-affinity=none' \
  '--scopes=https://www.googleapis.com/auth/cloud-platform' \
  '--enable-gvnic'
