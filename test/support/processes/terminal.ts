import { spawnSync } from 'node:child_process';
import { type Ended, type ProgramOptions, run } from '../../../tools/program.ts';
import { identityProgram } from './programs.ts';

/** Runs a program at a pseudo-terminal of 120 columns, and types each answer when its question has appeared. */
const script = `
import fcntl, json, os, pty, struct, sys, termios
questions = json.loads(sys.argv[1])
process, terminal = pty.fork()
if process == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
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
        os.write(terminal, questions.pop(0)[1].encode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
`;

/** Why there are no tests at a terminal; undefined if there are. */
export const terminalMissing =
  spawnSync('python3', ['-c', 'import pty']).status === 0 ? undefined : 'python3 with pty is not installed';
if (terminalMissing !== undefined) process.stderr.write(`skipped at a terminal: ${terminalMissing}\n`);

/** Runs the `identity` command at a terminal; `stdout` is what the terminal shows. */
export function identityAtTerminal(
  args: readonly string[],
  answers: readonly (readonly [question: string, keys: string])[],
  options: ProgramOptions = {},
): Promise<Ended> {
  return run('python3', ['-c', script, JSON.stringify(answers), ...identityProgram, ...args], options);
}
