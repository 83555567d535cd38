# The setup command of a trial's repository: makes node_modules of links. Arguments: a file with a line for each, its name
# and its target, and how long it says nothing, s.
set -e
sleep "$2"
rm -rf node_modules
while IFS="$(printf '\t')" read -r name target; do
  mkdir -p "$(dirname "node_modules/$name")"
  ln -s "$target" "node_modules/$name"
done < "$1"
