/* SPDX-License-Identifier: MIT */
/* Confines a server to the descriptors that it has, for the rest of its life. */
#ifndef GTU_SANDBOX_H
#define GTU_SANDBOX_H

/*
 * Let the process use its descriptors, memory and signals, and remove files in the open folder
 * @folder (-1: none); nothing else. Landlock refuses other files, TCP and other processes; seccomp
 * refuses all system calls but those that serving needs, with EPERM. Returns NULL, or a sentence
 * about the protection that this kernel or this build lacks. There is no way back.
 */
const char *sandbox_enter(int folder);

#endif
