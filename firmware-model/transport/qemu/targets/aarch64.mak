# SPDX-License-Identifier: MIT
CONFIG_ARM_VIRT=y
CONFIG_PCIE_PORT=y
CONFIG_GTU_PCI=y
CONFIG_GTU_PLATFORM=y
CONFIG_SERIAL_PCI=y
# the emulation of processors in QEMU 7.2 refers to both, also if no board selects them
CONFIG_ARM_V7M=y
CONFIG_ARM_COMPATIBLE_SEMIHOSTING=y
