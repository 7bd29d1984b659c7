import { type Command, EXIT_CODES, UsageError } from '../command.ts';
import { type ArgumentsOf, COMMANDS } from '../commands.ts';

export function perform({ file: shell }: ArgumentsOf<'completion'>): Promise<number> {
  if (!Object.hasOwn(SHELLS, shell))
    throw new UsageError(`completion: SHELL must be one of ${Object.keys(SHELLS).join(', ')}`);
  console.log(SHELLS[shell as keyof typeof SHELLS]());
  return Promise.resolve(EXIT_CODES.success);
}

const SHELLS = { bash, zsh, fish };

const ENTRIES = Object.entries<Command>(COMMANDS);
const NAMES = Object.keys(COMMANDS).join(' ');

/** The possible operands of commands that do not take a file. */
const OPERANDS: Readonly<Record<string, string>> = { completion: Object.keys(SHELLS).join(' '), help: NAMES };

function bash(): string {
  const cases = ENTRIES.map(([name, { options }]) => {
    const words = [...Object.keys(options), 'help'].map((option) => `--${option}`).join(' ');
    return `    ${name}) options="${words}" operands="${OPERANDS[name] ?? ''}" ;;`;
  });
  return `_bookkeeping() {
  local options operands word=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then
    COMPREPLY=($(compgen -W "${NAMES} --help --version" -- "$word"))
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
    *) return ;;
  esac
  if [[ $word == -* ]]; then operands=$options; fi
  COMPREPLY=($(compgen -W "$operands" -- "$word"))
}
complete -o default -F _bookkeeping bookkeeping`;
}

function zsh(): string {
  const commands = ENTRIES.map(([name, { summary }]) => `    ${quote(`${name}:${summary}`)}`);
  const cases = ENTRIES.map(([name, command]) => {
    const specs = Object.entries(command.options).map(([option, { value, description }]) =>
      quote(
        `--${option}[${description.replace(/[[\]\\:]/g, '\\$&')}]${value === undefined ? '' : `:${value}:_files`}`,
      ),
    );
    const words = OPERANDS[name] === undefined ? [] : [`'1:${command.operand}:(${OPERANDS[name]})'`];
    const operand = takesFile(command) ? ["'1:FILE:_files'"] : words;
    return `    ${name}) _arguments ${[...specs, "'--help[describes the command]'", ...operand].join(' ')} ;;`;
  });
  return `#compdef bookkeeping
_bookkeeping() {
  local -a commands=(
${commands.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${cases.join('\n')}
  esac
}
_bookkeeping "$@"`;
}

function fish(): string {
  const lines = ENTRIES.flatMap(([name, command]) => {
    const { summary, options } = command;
    const inCommand = `complete -c bookkeeping -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c bookkeeping -f -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`,
      ...Object.entries(options).map(
        ([option, { value, description }]) =>
          `${inCommand} -l ${option} -d ${quote(description)}${value === undefined ? '' : ' -r'}`,
      ),
      ...(takesFile(command) ? [] : [`${inCommand} -f${name in OPERANDS ? ` -a '${OPERANDS[name]}'` : ''}`]),
    ];
  });
  return lines.join('\n');
}

function takesFile({ file, operand }: Command): boolean {
  return file !== undefined && operand === undefined;
}

/** A text in single quotes, for zsh and fish. */
function quote(text: string): string {
  return `'${text.replaceAll("'", '’')}'`;
}
