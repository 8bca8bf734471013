import { argument, type RunAlone, UsageError } from '../command.ts';
import { bashScript } from '../completion/bash.ts';
import { type Candidates, candidates } from '../completion/candidates.ts';
import { fishScript } from '../completion/fish.ts';
import { type Shell, shells } from '../completion/shells.ts';
import { zshScript } from '../completion/zsh.ts';

const scripts: Readonly<Record<Shell, (commands: readonly Candidates[]) => string>> = {
  bash: bashScript,
  fish: fishScript,
  zsh: zshScript,
};

/** Runs `identity completion`. */
export const completion: RunAlone = async (call, program) => {
  const shell = shells.find((name) => name === argument(call, 0));
  if (shell === undefined) throw new UsageError(`specify one of ${shells.join(', ')}`);
  const script = scripts[shell](candidates(program));
  return { json: { script }, text: script.trimEnd() };
};
