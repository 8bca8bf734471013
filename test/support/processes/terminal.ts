import { spawnSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { type Ended, type ProgramOptions, run } from '../../../tools/program.ts';
import { identityProgram } from './programs.ts';

/**
 * Runs a program in a pseudo-terminal. Types each answer after its question has appeared; immediately if the question
 * is empty.
 */
const script = `
import fcntl, json, os, pty, struct, subprocess, sys, termios
questions, columns = json.loads(sys.argv[1])
process, terminal = pty.fork()
if process == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
while questions and not questions[0][0]:
    os.write(terminal, questions.pop(0)[1].encode())
output = b""
while True:
    try:
        part = os.read(terminal, 65536)
    except OSError:
        break
    if not part:
        break
    output += part
    sys.stdout.buffer.write(part)
    sys.stdout.buffer.flush()
    if questions and questions[0][0].encode() in output:
        question, keys, *command = questions.pop(0)
        if command:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        os.write(terminal, keys.encode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
`;

/** The reason why there are no tests at a terminal; undefined if there are. */
export const terminalMissing =
  spawnSync('python3', ['-c', 'import pty']).status === 0 ? undefined : 'python3 with pty is not installed';
if (terminalMissing !== undefined) process.stderr.write(`skipped at a terminal: ${terminalMissing}\n`);

/**
 * Runs the `identity` command in a pseudo-terminal. `stdout` is the output on the terminal.
 * @param answers each with a command, if any, that ends before the keys are typed
 */
export function identityAtTerminal(
  args: readonly string[],
  answers: readonly (readonly [question: string, keys: string, ...command: string[]])[] = [],
  { columns = 120, ...options }: ProgramOptions & { readonly columns?: number } = {},
): Promise<Ended> {
  const given = JSON.stringify([answers, columns]);
  return run('python3', ['-c', script, given, ...identityProgram, ...args], options);
}

/**
 * Returns the visible lines of a terminal's output: without colours, with only the last state of lines that changed.
 */
export function seenLines({ stdout }: Ended): string[] {
  const lines = stripVTControlCharacters(stdout).split('\r\n');
  return lines.map((line) => line.split('\r').at(-1) ?? '');
}
