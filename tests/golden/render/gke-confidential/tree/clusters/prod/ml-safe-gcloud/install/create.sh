#!/bin/sh
# Makes GKE cluster ml-safe-gcloud with gcloud: APIs, network, account of the nodes, cluster, node pools.
#
#   sh create.sh
#
# Needs gcloud, logged in to an account with the roles that prerequisites.md lists. It may run as often as you
# like: it makes what is missing, and what is there stays as it is, whatever this file says about it.
# shellcheck disable=SC2016  # names may hold characters that mean something outside of quotes
set -eu

project='example-ml'
location='us-central1-a'
region='us-central1'
cluster='ml-safe-gcloud'
account='ml-safe-gcloud-nodes@example-ml.iam.gserviceaccount.com'

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

if exists name compute networks describe "$cluster"; then
  kept "network $cluster"
else
  cloud compute networks create "$cluster" '--subnet-mode=custom' '--bgp-routing-mode=regional'
fi
if exists name compute networks subnets describe "$cluster" --region="$region"; then
  kept "subnetwork $cluster"
else
  cloud compute networks subnets create "$cluster" --region="$region" \
    '--network=ml-safe-gcloud' \
    '--range=10.0.0.0/20' \
    '--enable-private-ip-google-access' \
    '--secondary-range=pods=10.4.0.0/14,services=10.8.0.0/20'
fi

if exists name compute routers describe "$cluster" --region="$region"; then
  kept "router $cluster"
else
  cloud compute routers create "$cluster" --region="$region" --network="$cluster"
fi
if exists name compute routers nats describe "$cluster" --router="$cluster" --region="$region"; then
  kept "NAT $cluster"
else
  cloud compute routers nats create "$cluster" --router="$cluster" --region="$region" \
    --auto-allocate-nat-external-ips --nat-all-subnet-ip-ranges --enable-logging --log-filter=ERRORS_ONLY
fi

if exists email iam service-accounts describe "$account"; then
  kept "service account $account"
else
  cloud iam service-accounts create 'ml-safe-gcloud-nodes' --display-name='Nodes of GKE cluster ml-safe-gcloud'
fi
grant 'roles/container.defaultNodeServiceAccount'
grant 'roles/monitoring.metricWriter'
grant 'roles/stackdriver.resourceMetadata.writer'
grant 'roles/artifactregistry.reader'

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
    '--network=ml-safe-gcloud' \
    '--subnetwork=ml-safe-gcloud' \
    '--cluster-secondary-range-name=pods' \
    '--services-secondary-range-name=services' \
    '--default-max-pods-per-node=110' \
    '--enable-dataplane-v2' \
    '--enable-private-nodes' \
    '--workload-pool=example-ml.svc.id.goog' \
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

make_pool 'system' \
  '--node-locations=us-central1-a' \
  '--num-nodes=1' \
  '--enable-autoscaling' \
  '--total-min-nodes=1' \
  '--total-max-nodes=3' \
  '--location-policy=BALANCED' \
  '--enable-autorepair' \
  '--max-surge-upgrade=1' \
  '--max-unavailable-upgrade=0' \
  '--machine-type=e2-standard-4' \
  '--image-type=COS_CONTAINERD' \
  '--disk-size=100' \
  '--disk-type=pd-balanced' \
  '--shielded-secure-boot' \
  '--scopes=https://www.googleapis.com/auth/cloud-platform'
make_pool 'safe' \
  '--node-locations=us-central1-a' \
  '--num-nodes=0' \
  '--enable-autoscaling' \
  '--total-min-nodes=0' \
  '--total-max-nodes=4' \
  '--location-policy=ANY' \
  '--enable-autorepair' \
  '--max-surge-upgrade=0' \
  '--max-unavailable-upgrade=1' \
  '--machine-type=a3-highgpu-1g' \
  '--accelerator=type=nvidia-h100-80gb,count=1,gpu-driver-version=default' \
  '--image-type=COS_CONTAINERD' \
  '--disk-size=200' \
  '--disk-type=pd-balanced' \
  '--ephemeral-storage-local-ssd=count=2' \
  '--spot' \
  '--reservation-affinity=none' \
  '--scopes=https://www.googleapis.com/auth/cloud-platform' \
  '--enable-gvnic' \
  '--confidential-node-type=tdx'
