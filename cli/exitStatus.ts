/** The exit codes of all commands, with their meanings for the help. */
export const exitCodes = {
  done: { code: 0, meaning: 'done, or equal' },
  failed: { code: 1, meaning: 'failed: standard error names the problem' },
  consentMissing: { code: 2, meaning: 'consent missing: there is neither a terminal nor --yes' },
  listed: { code: 3, meaning: 'finished, with differences or errors listed' },
  usage: { code: 64, meaning: 'usage: an argument, option or environment variable is wrong' },
  interrupted: { code: 130, meaning: 'interrupted: repeat the command' },
} as const;

/** How a command ended. */
export type ExitStatus = keyof typeof exitCodes;
