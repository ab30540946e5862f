set pagination off
set confirm off
maint expand-symtabs
set $i = 0
while $i < 3
  info functions .
  info types .
  info variables .
  disassemble main
  set $i = $i + 1
end
info line main
