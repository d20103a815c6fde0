#!/bin/sh
# Makes GKE cluster train with gcloud: APIs, network, account of the nodes, cluster, node pools.
#
#   sh create.sh
#
# Needs gcloud, logged in to an account with the roles that prerequisites.md lists. It may run as often as you
# like: it makes what is missing, and what is there stays as it is, whatever this file says about it.
# shellcheck disable=SC2016  # names may hold characters that mean something outside of quotes
set -eu

project='example-ml-prod'
location='us-central1-a'
region='us-central1'
cluster='train'
account='train-nodes@example-ml-prod.iam.gserviceaccount.com'

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

# make_network NAME FLAG...
make_network() {
  if exists name compute networks describe "$1"; then kept "network $1"; return 0; fi
  cloud compute networks create "$@" --subnet-mode=custom --bgp-routing-mode=regional
}

make_subnetwork() {
  if exists name compute networks subnets describe "$1" --region="$region"; then kept "subnetwork $1"; return 0; fi
  cloud compute networks subnets create "$@" --region="$region"
}

make_firewall() {
  if exists name compute firewall-rules describe "$1"; then kept "firewall rule $1"; return 0; fi
  cloud compute firewall-rules create "$@" --direction=INGRESS --allow=tcp,udp,icmp
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
    '--network=train' \
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

make_network 'train-gpu-1' --mtu=8244
make_subnetwork 'train-gpu-1' '--network=train-gpu-1' '--range=192.168.0.0/21'
make_firewall 'train-gpu-1' '--network=train-gpu-1' '--source-ranges=192.168.0.0/21'
make_network 'train-gpu-2' --mtu=8244
make_subnetwork 'train-gpu-2' '--network=train-gpu-2' '--range=192.168.8.0/21'
make_firewall 'train-gpu-2' '--network=train-gpu-2' '--source-ranges=192.168.8.0/21'
make_network 'train-gpu-3' --mtu=8244
make_subnetwork 'train-gpu-3' '--network=train-gpu-3' '--range=192.168.16.0/21'
make_firewall 'train-gpu-3' '--network=train-gpu-3' '--source-ranges=192.168.16.0/21'
make_network 'train-gpu-4' --mtu=8244
make_subnetwork 'train-gpu-4' '--network=train-gpu-4' '--range=192.168.24.0/21'
make_firewall 'train-gpu-4' '--network=train-gpu-4' '--source-ranges=192.168.24.0/21'
make_network 'train-gpu-5' --mtu=8244
make_subnetwork 'train-gpu-5' '--network=train-gpu-5' '--range=192.168.32.0/21'
make_firewall 'train-gpu-5' '--network=train-gpu-5' '--source-ranges=192.168.32.0/21'
make_network 'train-gpu-6' --mtu=8244
make_subnetwork 'train-gpu-6' '--network=train-gpu-6' '--range=192.168.40.0/21'
make_firewall 'train-gpu-6' '--network=train-gpu-6' '--source-ranges=192.168.40.0/21'
make_network 'train-gpu-7' --mtu=8244
make_subnetwork 'train-gpu-7' '--network=train-gpu-7' '--range=192.168.48.0/21'
make_firewall 'train-gpu-7' '--network=train-gpu-7' '--source-ranges=192.168.48.0/21'
make_network 'train-gpu-8' --mtu=8244
make_subnetwork 'train-gpu-8' '--network=train-gpu-8' '--range=192.168.56.0/21'
make_firewall 'train-gpu-8' '--network=train-gpu-8' '--source-ranges=192.168.56.0/21'
make_network 'train-gvnic' --mtu=8896
make_subnetwork 'train-gvnic' '--network=train-gvnic' '--range=192.168.64.0/21'
make_firewall 'train-gvnic' '--network=train-gvnic' '--source-ranges=192.168.64.0/21'
make_network 'train-rdma' --mtu=8896 '--network-profile=us-central1-a-vpc-roce'
make_subnetwork 'train-rdma-0' '--network=train-rdma' '--range=192.168.128.0/21'
make_subnetwork 'train-rdma-1' '--network=train-rdma' '--range=192.168.136.0/21'
make_subnetwork 'train-rdma-2' '--network=train-rdma' '--range=192.168.144.0/21'
make_subnetwork 'train-rdma-3' '--network=train-rdma' '--range=192.168.152.0/21'
make_subnetwork 'train-rdma-4' '--network=train-rdma' '--range=192.168.160.0/21'
make_subnetwork 'train-rdma-5' '--network=train-rdma' '--range=192.168.168.0/21'
make_subnetwork 'train-rdma-6' '--network=train-rdma' '--range=192.168.176.0/21'
make_subnetwork 'train-rdma-7' '--network=train-rdma' '--range=192.168.184.0/21'

if exists email iam service-accounts describe "$account"; then
  kept "service account $account"
else
  cloud iam service-accounts create 'train-nodes' --display-name='Nodes of GKE cluster train'
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
    '--cluster-version=1.34.1-gke.1829001' \
    '--enable-ip-alias' \
    '--network=train' \
    '--subnetwork=train' \
    '--cluster-secondary-range-name=pods' \
    '--services-secondary-range-name=services' \
    '--default-max-pods-per-node=110' \
    '--enable-dataplane-v2' \
    '--enable-multi-networking' \
    '--enable-private-nodes' \
    '--enable-master-authorized-networks' \
    '--master-authorized-networks=203.0.113.0/24' \
    '--workload-pool=example-ml-prod.svc.id.goog' \
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
  '--total-max-nodes=6' \
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
make_pool 'mega-g2' \
  '--node-locations=us-central1-a' \
  '--num-nodes=0' \
  '--enable-autoscaling' \
  '--total-min-nodes=0' \
  '--total-max-nodes=4' \
  '--location-policy=ANY' \
  '--enable-autorepair' \
  '--max-surge-upgrade=0' \
  '--max-unavailable-upgrade=1' \
  '--machine-type=a3-megagpu-8g' \
  '--accelerator=type=nvidia-h100-mega-80gb,count=8,gpu-driver-version=default' \
  '--image-type=COS_CONTAINERD' \
  '--disk-size=200' \
  '--disk-type=pd-balanced' \
  '--ephemeral-storage-local-ssd=count=16' \
  '--reservation-affinity=none' \
  '--node-labels=cloud.google.com/compute-class=train' \
  '--node-taints=cloud.google.com/compute-class=train:NoSchedule' \
  '--additional-node-network=network=train-gpu-1,subnetwork=train-gpu-1' \
  '--additional-node-network=network=train-gpu-2,subnetwork=train-gpu-2' \
  '--additional-node-network=network=train-gpu-3,subnetwork=train-gpu-3' \
  '--additional-node-network=network=train-gpu-4,subnetwork=train-gpu-4' \
  '--additional-node-network=network=train-gpu-5,subnetwork=train-gpu-5' \
  '--additional-node-network=network=train-gpu-6,subnetwork=train-gpu-6' \
  '--additional-node-network=network=train-gpu-7,subnetwork=train-gpu-7' \
  '--additional-node-network=network=train-gpu-8,subnetwork=train-gpu-8' \
  '--scopes=https://www.googleapis.com/auth/cloud-platform' \
  '--enable-gvnic'
make_pool 'ultra' \
  '--node-locations=us-central1-a' \
  '--num-nodes=0' \
  '--enable-autoscaling' \
  '--total-min-nodes=0' \
  '--total-max-nodes=2' \
  '--location-policy=ANY' \
  '--enable-autorepair' \
  '--max-surge-upgrade=0' \
  '--max-unavailable-upgrade=1' \
  '--machine-type=a3-ultragpu-8g' \
  '--accelerator=type=nvidia-h200-141gb,count=8,gpu-driver-version=default' \
  '--image-type=COS_CONTAINERD' \
  '--disk-size=200' \
  '--disk-type=hyperdisk-balanced' \
  '--ephemeral-storage-local-ssd=count=32' \
  '--reservation-affinity=none' \
  '--node-labels=cloud.google.com/compute-class=train' \
  '--node-taints=cloud.google.com/compute-class=train:NoSchedule' \
  '--additional-node-network=network=train-gvnic,subnetwork=train-gvnic' \
  '--additional-node-network=network=train-rdma,subnetwork=train-rdma-0' \
  '--additional-node-network=network=train-rdma,subnetwork=train-rdma-1' \
  '--additional-node-network=network=train-rdma,subnetwork=train-rdma-2' \
  '--additional-node-network=network=train-rdma,subnetwork=train-rdma-3' \
  '--additional-node-network=network=train-rdma,subnetwork=train-rdma-4' \
  '--additional-node-network=network=train-rdma,subnetwork=train-rdma-5' \
  '--additional-node-network=network=train-rdma,subnetwork=train-rdma-6' \
  '--additional-node-network=network=train-rdma,subnetwork=train-rdma-7' \
  '--scopes=https://www.googleapis.com/auth/cloud-platform' \
  '--enable-gvnic'
