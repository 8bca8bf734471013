import type { Command } from '../command.ts';

/** The commands that open no instance. */
export const shellCommands: readonly Command[] = [
  {
    name: 'completion',
    summary: 'print the script that completes commands, options and values in a shell',
    instance: 'none',
    arguments: [{ value: 'SHELL', meaning: 'the shell' }],
    options: [],
    examples: [
      'completion bash > ~/.local/share/bash-completion/completions/identity',
      'completion zsh > ~/.zfunc/_identity',
      'completion fish > ~/.config/fish/completions/identity.fish',
    ],
    load: async () => (await import('../commands/completion.ts')).completion,
  },
];
