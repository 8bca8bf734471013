import { defineError } from './identityError.ts';

// Errors of `identity migrate` about its run directory and its steps.

const directory = './identity-migration-2026-11-22T10-35-12Z';

export const migrationMissing = defineError({
  code: 'NOT_FOUND',
  text: (path: string) => `no migration in ${path}: name its directory with --run-dir`,
  example: [directory],
  when: '`identity migrate resume`, `status` or `cleanup` finds no run directory.',
  remedy: 'Change to the directory in which the migration was started, or specify `--run-dir`.',
});

export const migrationRunning = defineError({
  code: 'ABORTED',
  text: (path: string, pid: string) =>
    `process ${pid} works on the migration in ${path}: wait until it ends, or stop it`,
  example: [directory, '4711'],
  when: 'A migration is resumed or cleaned up while another process of this machine works on it.',
  remedy: 'Wait for the other process, or stop it with `kill`.',
});

export const migrationStopped = defineError({
  code: 'UNAVAILABLE',
  text: (problem: string, next: string) => `${problem}; then continue with ${next}`,
  example: [
    'https://id.example.com cannot be reached (ECONNREFUSED)',
    `identity migrate resume --run-dir ${directory}`,
  ],
  when: 'A step of a migration has failed. What it has done so far stays, and is on record in the run directory.',
  remedy: 'Remove the cause, which the message names, and resume the migration.',
});

export const migrationTokenTooNarrow = defineError({
  code: 'PERMISSION_DENIED',
  text: (place: string, operation: string) =>
    `the token for ${place} does not permit ${operation}s: use one of a service user with the role IAM_OWNER, without --only`,
  example: ['https://id.example.com', 'export'],
  when: 'The user of the token lacks the role, or the token is restricted to one operation. A migration exports both sides, to compare them at its end.',
  remedy: 'Create a token with `identity pat create` without `--only`.',
});
