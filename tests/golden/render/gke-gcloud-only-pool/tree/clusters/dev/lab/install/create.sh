#!/bin/sh
# Makes GKE cluster lab with gcloud: APIs, network, account of the nodes, cluster, node pools.
#
#   sh create.sh
#
# Needs gcloud, logged in to an account with the roles that prerequisites.md lists. It may run as often as you
# like: it makes what is missing, and what is there stays as it is, whatever this file says about it.
# shellcheck disable=SC2016  # names may hold characters that mean something outside of quotes
set -eu

project='example-ml-dev'
location='us-central1-a'
region='us-central1'
cluster='lab'
account='nodes@example-ml-dev.iam.gserviceaccount.com'

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
cloud services enable \
  'cloudresourcemanager.googleapis.com' \
  'compute.googleapis.com' \
  'container.googleapis.com' \
  'iam.googleapis.com'

if exists status container clusters describe "$cluster" --location="$location"; then
  kept "cluster $cluster ($answer)"
else
  # GKE wants a first pool. It goes before the others are made: next to a pool without GPUs, GKE taints those
  # that have some.
  cloud container clusters create "$cluster" --location="$location" \
    --num-nodes=1 --node-labels=gpuctl.dev/first-pool=true --service-account="$account" \
    '--release-channel=regular' \
    '--cluster-version=1.35' \
    '--enable-ip-alias' \
    '--network=projects/example-net/global/networks/shared' \
    '--subnetwork=projects/example-ml-dev/regions/us-central1/subnetworks/gpu-nodes' \
    '--cluster-secondary-range-name=gpu-pods' \
    '--services-secondary-range-name=gpu-services' \
    '--default-max-pods-per-node=110' \
    '--no-enable-dataplane-v2' \
    '--no-enable-private-nodes' \
    '--enable-master-authorized-networks' \
    '--master-authorized-networks=203.0.113.0/24' \
    '--workload-pool=example-ml-dev.svc.id.goog' \
    '--enable-shielded-nodes' \
    '--autoscaling-profile=balanced' \
    '--addons=HttpLoadBalancing,HorizontalPodAutoscaling,GcePersistentDiskCsiDriver'
fi
if exists config.labels container node-pools describe default-pool --cluster="$cluster" --location="$location"; then
  case $answer in
    *gpuctl.dev/first-pool=true*)
      cloud container node-pools delete default-pool --cluster="$cluster" --location="$location"
      ;;
  esac
fi

make_pool 'gpu' \
  '--node-locations=us-central1-a' \
  '--num-nodes=2' \
  '--enable-autorepair' \
  '--max-surge-upgrade=1' \
  '--max-unavailable-upgrade=0' \
  '--machine-type=g2-standard-8' \
  '--accelerator=type=nvidia-l4,count=1,gpu-driver-version=disabled' \
  '--image-type=UBUNTU_CONTAINERD' \
  '--disk-size=200' \
  '--disk-type=pd-balanced' \
  '--reservation-affinity=none' \
  '--node-labels=gke-no-default-nvidia-gpu-device-plugin=true' \
  '--scopes=https://www.googleapis.com/auth/cloud-platform' \
  '--enable-gvnic'
