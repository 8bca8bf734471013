import { describe, expect, it } from 'vitest';
import { createProgram, namedCommand } from '../../../cli/commandLine.ts';
import { commands } from '../../../cli/commands.ts';

describe('every command', () => {
  it.each(commands.map(({ name }) => name))('%s has examples that the parser accepts', async (name) => {
    const { examples } = commands.find((one) => one.name === name) ?? { examples: [] };
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      const called: string[] = [];
      const program = createProgram(async (command) => void called.push(command.name));
      const [line = ''] = example.split(' > ');
      await program.parseAsync(line.split(' '), { from: 'user' });
      expect(called).toEqual([name]);
    }
  });

  it('that has subcommands says what they are about', () => {
    const program = createProgram(async () => {});
    for (const { name } of commands) {
      const [first = ''] = name.split(' ');
      expect(namedCommand(program, [first]).description(), first).not.toBe('');
    }
  });
});
