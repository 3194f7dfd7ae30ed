# SPDX-License-Identifier: Apache-2.0
# pkg-config file and CMake package; what each folder installs stands in that folder.
