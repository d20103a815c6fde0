# Writes assembly that stands for the functions of a library of others which the given objects call:
# each jumps to where its slot points. base::load_late() fills the slots when the library is first
# needed, so that other commands load neither it nor what is behind it.
#
#   cmake -DNM=nm -DPROCESSOR=x86_64 -DOBJECTS=a.o,b.o -DLIBRARY=libgit2 -DPATTERN=git_ -DOUTPUT=stubs.S
#     -P late_library.cmake
string(REPLACE "," ";" objects "${OBJECTS}")
execute_process(COMMAND ${NM} -u ${objects} OUTPUT_VARIABLE undefined COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[ \t](${PATTERN})[A-Za-z0-9_]+" found "${undefined}")
list(TRANSFORM found STRIP)
list(SORT found)
list(REMOVE_DUPLICATES found)
set(code "")
set(names "")
set(slots "")
foreach(name IN LISTS found)
  string(APPEND code "    .globl ${name}\n    .hidden ${name}\n    .type ${name}, %function\n${name}:\n")
  if(PROCESSOR STREQUAL "x86_64")
    string(APPEND code "    jmp *slot_${name}(%rip)\n")
  else()
    string(APPEND code "    adrp x16, slot_${name}\n    ldr x16, [x16, :lo12:slot_${name}]\n    br x16\n")
  endif()
  string(APPEND names "    .asciz \"${name}\"\n")
  string(APPEND slots "slot_${name}:\n    .skip 8\n")
endforeach()
file(WRITE ${OUTPUT} "\
    .text
${code}\
    .section .rodata
    .globl gpuctl_${LIBRARY}_names
    .hidden gpuctl_${LIBRARY}_names
gpuctl_${LIBRARY}_names:
${names}\
    .asciz \"\"
    .bss
    .balign 8
    .globl gpuctl_${LIBRARY}_slots
    .hidden gpuctl_${LIBRARY}_slots
gpuctl_${LIBRARY}_slots:
${slots}\
    .section .note.GNU-stack,\"\",%progbits
")
