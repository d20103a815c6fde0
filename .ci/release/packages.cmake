# How CPack makes the packages of a release, out of a finished tree; release.sh names in the environment:
#   GPUCTL_TREE     the directory that has usr/
#   GPUCTL_VERSION  of gpuctl
#   GPUCTL_GLIBC    the oldest glibc that the program runs with
#   GPUCTL_OUTPUT   where the packages go
#   GPUCTL_ARCHITECTURE, GPUCTL_MACHINE  what it runs on, in Debian's words and in those of uname
set(CPACK_PACKAGE_NAME gpuctl)
set(CPACK_PACKAGE_VERSION $ENV{GPUCTL_VERSION})
set(CPACK_PACKAGE_VENDOR "gpuctl")
set(CPACK_PACKAGE_CONTACT "gpuctl <gpuctl@example.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "GPU clusters from blueprints, as manifests in Git")
set(CPACK_PACKAGE_DESCRIPTION "gpuctl turns a description of a GPU cluster into every manifest that makes it real,
checks them, and commits them to Git, where a GitOps controller picks them up.")
set(CPACK_INSTALLED_DIRECTORIES "$ENV{GPUCTL_TREE};/")
set(CPACK_INSTALL_CMAKE_PROJECTS "")
set(CPACK_PACKAGING_INSTALL_PREFIX "/")
set(CPACK_PACKAGE_DIRECTORY $ENV{GPUCTL_OUTPUT})
set(CPACK_PACKAGE_FILE_NAME gpuctl)
set(CPACK_TOPLEVEL_TAG Linux)
set(CPACK_SYSTEM_NAME Linux)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE $ENV{GPUCTL_ARCHITECTURE})
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= $ENV{GPUCTL_GLIBC})")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "git, libcurl4 | libcurl4t64")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "openssh-client")
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_ARCHITECTURE $ENV{GPUCTL_MACHINE})
set(CPACK_RPM_PACKAGE_LICENSE "Apache-2.0")
set(CPACK_RPM_PACKAGE_REQUIRES "glibc >= $ENV{GPUCTL_GLIBC}")
set(CPACK_RPM_PACKAGE_AUTOREQPROV "no")
set(CPACK_RPM_PACKAGE_SUGGESTS "git, libcurl")
set(CPACK_RPM_COMPRESSION_TYPE zstd)
set(CPACK_RPM_SPEC_MORE_DEFINE "%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1
%define _buildhost release
%define __os_install_post %{nil}
%define _build_id_links none")
