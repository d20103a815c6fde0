#!/bin/sh
# Makes GKE cluster scripted with gcloud: APIs, network, account of the nodes, cluster, node pools.
#
#   sh create.sh
#
# Needs gcloud, logged in to an account with the roles that prerequisites.md lists. It may run as often as you
# like: it makes what is missing, and what is there stays as it is, whatever this file says about it.
# shellcheck disable=SC2016  # names may hold characters that mean something outside of quotes
set -eu

project='example-ml-prod'
location='us-central1'
region='us-central1'
cluster='scripted'
account='gpu-nodes@example-ml-prod.iam.gserviceaccount.com'

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
  cloud compute networks create "$cluster" '--subnet-mode=custom' '--bgp-routing-mode=regional' '--mtu=8896'
fi
if exists name compute networks subnets describe "$cluster" --region="$region"; then
  kept "subnetwork $cluster"
else
  cloud compute networks subnets create "$cluster" --region="$region" \
    '--network=scripted' \
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
  cloud iam service-accounts create 'gpu-nodes' --display-name='Nodes of GKE cluster scripted'
fi
grant 'roles/container.defaultNodeServiceAccount'
grant 'roles/monitoring.metricWriter'
grant 'roles/stackdriver.resourceMetadata.writer'
grant 'roles/artifactregistry.reader'
grant 'roles/storage.objectViewer'

if exists status container clusters describe "$cluster" --location="$location"; then
  kept "cluster $cluster ($answer)"
else
  # GKE wants a first pool. It goes before the others are made: next to a pool without GPUs, GKE taints those
  # that have some.
  cloud container clusters create "$cluster" --location="$location" \
    --num-nodes=1 --node-labels=gpuctl.dev/first-pool=true --service-account="$account" \
    '--node-locations=us-central1-a,us-central1-b,us-central1-c' \
    '--release-channel=None' \
    '--cluster-version=1.35.2-gke.1842000' \
    '--enable-ip-alias' \
    '--network=scripted' \
    '--subnetwork=scripted' \
    '--cluster-secondary-range-name=pods' \
    '--services-secondary-range-name=services' \
    '--default-max-pods-per-node=110' \
    '--enable-dataplane-v2' \
    '--enable-private-nodes' \
    '--enable-private-endpoint' \
    '--master-ipv4-cidr=172.16.0.0/28' \
    '--enable-master-authorized-networks' \
    '--master-authorized-networks=192.0.2.0/24,203.0.113.0/24' \
    '--workload-pool=example-ml-prod.svc.id.goog' \
    '--enable-shielded-nodes' \
    '--autoscaling-profile=optimize-utilization' \
    '--addons=HttpLoadBalancing,HorizontalPodAutoscaling,GcePersistentDiskCsiDriver,GcsFuseCsiDriver' \
    '--maintenance-window-start=2026-01-03T02:00:00Z' \
    '--maintenance-window-end=2026-01-03T08:00:00Z' \
    '--maintenance-window-recurrence=FREQ=WEEKLY;BYDAY=SA,SU'
fi
if exists config.labels container node-pools describe default-pool --cluster="$cluster" --location="$location"; then
  case $answer in
    *gpuctl.dev/first-pool=true*)
      cloud container node-pools delete default-pool --cluster="$cluster" --location="$location"
      ;;
  esac
fi

make_pool 'system-g3' \
  '--node-locations=us-central1-a,us-central1-b,us-central1-c' \
  '--num-nodes=1' \
  '--enable-autoscaling' \
  '--total-min-nodes=2' \
  '--total-max-nodes=4' \
  '--location-policy=BALANCED' \
  '--enable-autorepair' \
  '--max-surge-upgrade=1' \
  '--max-unavailable-upgrade=0' \
  '--machine-type=n2-standard-4' \
  '--image-type=COS_CONTAINERD' \
  '--disk-size=50' \
  '--disk-type=pd-ssd' \
  '--shielded-secure-boot' \
  '--scopes=https://www.googleapis.com/auth/cloud-platform'
make_pool 'flex' \
  '--node-locations=us-central1-a' \
  '--num-nodes=0' \
  '--enable-autoscaling' \
  '--total-min-nodes=0' \
  '--total-max-nodes=4' \
  '--location-policy=ANY' \
  '--flex-start' \
  '--no-enable-autorepair' \
  '--machine-type=a3-highgpu-8g' \
  '--accelerator=type=nvidia-h100-80gb,count=8,gpu-driver-version=latest' \
  '--image-type=COS_CONTAINERD' \
  '--disk-size=200' \
  '--disk-type=pd-balanced' \
  '--ephemeral-storage-local-ssd=count=16' \
  '--reservation-affinity=none' \
  '--scopes=https://www.googleapis.com/auth/cloud-platform' \
  '--enable-gvnic'
make_pool 'parts' \
  '--node-locations=us-central1-a,us-central1-b' \
  '--num-nodes=2' \
  '--enable-autorepair' \
  '--max-surge-upgrade=0' \
  '--max-unavailable-upgrade=1' \
  '--machine-type=a2-highgpu-2g' \
  '--accelerator=type=nvidia-tesla-a100,count=2,gpu-driver-version=latest,gpu-partition-size=1g.5gb,gpu-sharing-strategy=time-sharing,max-shared-clients-per-gpu=2' \
  '--image-type=COS_CONTAINERD' \
  '--disk-size=200' \
  '--disk-type=pd-balanced' \
  '--reservation-affinity=any' \
  '--node-labels=example.com/purpose=jobs,example.com/team=a' \
  '--node-taints=example.com/team=a:NoExecute,example.com/soft=:PreferNoSchedule' \
  '--scopes=https://www.googleapis.com/auth/cloud-platform' \
  '--enable-gvnic'
make_pool 'mps' \
  '--node-locations=us-central1-a' \
  '--num-nodes=1' \
  '--enable-autoscaling' \
  '--total-min-nodes=1' \
  '--total-max-nodes=2' \
  '--location-policy=BALANCED' \
  '--enable-autorepair' \
  '--max-surge-upgrade=0' \
  '--max-unavailable-upgrade=1' \
  '--placement-type=COMPACT' \
  '--machine-type=a2-ultragpu-1g' \
  '--accelerator=type=nvidia-a100-80gb,count=1,gpu-driver-version=latest,gpu-sharing-strategy=mps,max-shared-clients-per-gpu=8' \
  '--image-type=COS_CONTAINERD' \
  '--disk-size=200' \
  '--disk-type=pd-balanced' \
  '--ephemeral-storage-local-ssd=count=1' \
  '--reservation-affinity=specific' \
  '--reservation=projects/shared/reservations/a100' \
  '--scopes=https://www.googleapis.com/auth/cloud-platform' \
  '--enable-gvnic' \
  '--shielded-secure-boot'
make_pool 'spot' \
  '--node-locations=us-central1-b' \
  '--num-nodes=0' \
  '--enable-autoscaling' \
  '--total-min-nodes=0' \
  '--total-max-nodes=3' \
  '--location-policy=ANY' \
  '--enable-autorepair' \
  '--max-surge-upgrade=0' \
  '--max-unavailable-upgrade=1' \
  '--machine-type=n1-standard-8' \
  '--accelerator=type=nvidia-tesla-t4,count=2,gpu-driver-version=latest' \
  '--image-type=COS_CONTAINERD' \
  '--disk-size=200' \
  '--disk-type=pd-balanced' \
  '--local-nvme-ssd-block=count=2' \
  '--spot' \
  '--reservation-affinity=none' \
  '--scopes=https://www.googleapis.com/auth/cloud-platform' \
  '--enable-gvnic'
