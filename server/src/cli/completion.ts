import type { Command, Option } from 'commander';
import type { Context } from './context.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** The words that can follow those of a command. */
interface Node {
  /** The words, such as `sessions list`; empty for the program itself. */
  readonly path: string;
  readonly subcommands: readonly Candidate[];
  readonly options: readonly (Candidate & { readonly takesValue: boolean; readonly choices: readonly string[] })[];
  readonly choices: readonly string[];
}

interface Candidate {
  readonly name: string;
  readonly description: string;
}

/** Prints a script that completes commands, options and fixed values. It starts no process of its own. */
export async function printCompletion({ io }: Context, program: Command, shell: Shell): Promise<void> {
  io.stdout.write(completionOf(program, shell));
}

export function completionOf(program: Command, shell: Shell): string {
  const nodes = [...nodesOf(program, [], [])];
  return { bash, zsh, fish }[shell](nodes);
}

function* nodesOf(command: Command, path: readonly string[], inherited: readonly Option[]): Generator<Node> {
  const helper = command.createHelp();
  const options = [...helper.visibleOptions(command), ...inherited].filter(({ long }) => long !== undefined);
  yield {
    path: path.join(' '),
    subcommands: helper
      .visibleCommands(command)
      .map((each) => ({ name: each.name(), description: each.description() })),
    options: options.map((option) => ({
      name: option.long ?? '',
      description: option.description,
      takesValue: option.required,
      choices: option.argChoices ?? [],
    })),
    choices: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
  };
  const passedOn = path.length === 0 ? command.options.filter(({ long }) => long !== '--version') : inherited;
  for (const each of command.commands) yield* nodesOf(each, [...path, each.name()], passedOn);
}

/** Names, options and values are ours and have no character that a shell would expand. */
const words = (...lists: readonly (readonly string[])[]) => lists.flat().join(' ');

/** A `case` per command and option, for the shells that have the syntax of the Bourne shell. */
function valueCases(nodes: readonly Node[], reply: (values: readonly string[]) => string): string {
  const choices = nodes.flatMap(({ path, options }) =>
    options
      .filter((option) => option.takesValue)
      .map((option) => `    '${path} ${option.name}') ${reply(option.choices)} ;;`),
  );
  return choices.join('\n');
}

/** Skips options and their values, to find out which command the words name. */
function pathLoop(nodes: readonly Node[], at: string, first: number, last: string): string {
  const valued = [...new Set(nodes.flatMap(({ options }) => options.filter((o) => o.takesValue).map((o) => o.name)))];
  const paths = nodes.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`);
  return `  for ((i = ${first}; i < ${last}; i++)); do
    word="\${${at}}"
    case "$word" in
      ${valued.join('|')}) ((i++)); continue ;;
      -*) continue ;;
    esac
    case "\${cmd:+$cmd }$word" in
      ${paths.join('|')}) cmd="\${cmd:+$cmd }$word" ;;
    esac
  done`;
}

function bash(nodes: readonly Node[]): string {
  const cases = nodes.map(
    ({ path, subcommands, options, choices }) =>
      `    '${path}') words='${words(
        subcommands.map(({ name }) => name),
        choices,
      )}'; options='${words(options.map(({ name }) => name))}' ;;`,
  );
  return `# Completion of switchboard for bash.
_switchboard() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}" cmd='' word words='' options='' i
${pathLoop(nodes, 'COMP_WORDS[i]', 1, 'COMP_CWORD')}
  COMPREPLY=()
  case "$cmd $prev" in
${valueCases(nodes, (values) => `${values.length === 0 ? '' : `COMPREPLY=($(compgen -W '${words(values)}' -- "$cur")); `}return`)}
  esac
  case "$cmd" in
${cases.join('\n')}
  esac
  if [[ $cur == -* ]]; then words="$options"; fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _switchboard switchboard
`;
}

function zsh(nodes: readonly Node[]): string {
  const listed = (candidates: readonly Candidate[]) =>
    candidates
      .map(({ name, description }) => quoted(`${name.replaceAll(':', '\\:')}:${firstSentence(description)}`))
      .join(' ');
  const cases = nodes.map(
    ({ path, subcommands, options, choices }) =>
      `    '${path}') subs=(${listed(subcommands)} ${choices.join(' ')}); opts=(${listed(options)}) ;;`,
  );
  return `#compdef switchboard
# Completion of switchboard for zsh.
_switchboard() {
  local cur="$words[CURRENT]" prev="$words[CURRENT-1]" cmd='' word i
  local -a subs opts
${pathLoop(nodes, 'words[i]', 2, 'CURRENT')}
  case "$cmd $prev" in
${valueCases(nodes, (values) => (values.length === 0 ? '_default; return' : `compadd -- ${words(values)}; return`))}
  esac
  case "$cmd" in
${cases.join('\n')}
  esac
  if [[ $cur == -* ]]; then
    _describe 'option' opts
  elif (( \${#subs} > 0 )); then
    _describe 'command' subs
  else
    _default
  fi
}
if [ "$funcstack[1]" = "_switchboard" ]; then
  _switchboard "$@"
else
  compdef _switchboard switchboard
fi
`;
}

function fish(nodes: readonly Node[]): string {
  const valued = [...new Set(nodes.flatMap(({ options }) => options.filter((o) => o.takesValue).map((o) => o.name)))];
  const paths = nodes.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`);
  const lines = nodes.flatMap(({ path, subcommands, options, choices }) => {
    const at = `complete -c switchboard -n "__switchboard_at '${path}'"`;
    return [
      ...subcommands.map(({ name, description }) => `${at} -f -a ${name} -d ${quoted(firstSentence(description))}`),
      ...choices.map((choice) => `${at} -f -a ${choice}`),
      ...options.map((option) => {
        const value = option.takesValue
          ? ` -r${option.choices.length > 0 ? ` -f -a '${words(option.choices)}'` : ''}`
          : '';
        return `${at} -l ${option.name.slice(2)}${value} -d ${quoted(firstSentence(option.description))}`;
      }),
    ];
  });
  return `# Completion of switchboard for fish.
function __switchboard_at
  set -l found
  set -l skip 0
  for word in (commandline -opc)[2..-1]
    if test $skip = 1
      set skip 0
      continue
    end
    switch $word
      case ${valued.join(' ')}
        set skip 1
        continue
      case '-*'
        continue
    end
    if contains -- (string join ' ' $found $word) ${paths.join(' ')}
      set -a found $word
    end
  end
  test "$found" = "$argv"
end
${lines.join('\n')}
`;
}

/** Without the full stop, and without an explanation after a colon. */
export function firstSentence(text: string): string {
  return /^.*?[.:](?= |$)/.exec(text)?.[0].slice(0, -1) ?? text;
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
