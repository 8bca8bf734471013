import { userInfo } from 'node:os';
import { z } from 'zod';
import { type AuditFacts, organisationFacts } from '../shared/audit/auditEvent.ts';
import { openAudit } from '../shared/audit/openAudit.ts';
import { IdentityError } from '../shared/errors/identityError.ts';
import {
  type InstanceCommand,
  InterruptedError,
  type Invocation,
  type ListOutput,
  type Output,
  type Run,
  type RunList,
  UsageError,
} from './command.ts';

/**
 * Runs a command that changes something. It is put on record before it starts, and with its outcome at its end.
 * @throws IdentityError UNAVAILABLE, before the command starts, when it cannot be put on record
 */
export async function runAudited(
  command: InstanceCommand,
  invocation: Invocation,
  run: Run | RunList,
): Promise<Output | ListOutput | undefined> {
  const audit = await openAudit({ storeLocation: invocation.location }, process.stderr);
  try {
    const call = audit.command(command.name);
    let output: Output | ListOutput | undefined;
    await call.begin(commandFacts(command, invocation), () => createdIds(output));
    try {
      output = await run(invocation);
      await call.end(output?.ending?.() === 'consentMissing' ? consentMissing() : undefined);
      return output;
    } catch (error) {
      await call.end(asOutcome(error));
      throw error;
    }
  } finally {
    await audit.close();
  }
}

const MAX_CHARACTERS = 200;

/** Returns what the trail says of a call. Neither arguments nor options of the command hold a secret. */
function commandFacts(command: InstanceCommand, { positionals, options, lists, flags }: Invocation): AuditFacts {
  const { user, org, ...others } = options;
  const isAboutOrganisations = command.arguments[0]?.value === 'ORG_ID';
  const target = isAboutOrganisations ? undefined : (positionals[0] ?? user);
  const optional = org === undefined ? lists.org : [org];
  const orgIds = isAboutOrganisations ? positionals : optional;
  const valued = Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${value}`]));
  return {
    account: userInfo().username,
    ...(target === undefined ? {} : { target: target.slice(0, MAX_CHARACTERS) }),
    ...(orgIds === undefined ? {} : organisationFacts(orgIds)),
    flags: [...valued, ...[...flags].map((name) => `--${name}`)],
  };
}

const created = z.object({ orgId: z.string(), userId: z.string(), tokenId: z.string() }).partial();

/** Returns the ids in a command's output, and nothing else of it: it may hold a token. */
function createdIds(output: Output | ListOutput | undefined): AuditFacts {
  const { success, data } = created.safeParse(output !== undefined && 'json' in output ? output.json : undefined);
  const ids = Object.entries(data ?? {}).flatMap(([name, id]) => (id === undefined ? [] : [[name, id] as const]));
  return success && ids.length > 0 ? { ids: Object.fromEntries(ids) } : {};
}

/** The outcome of a call that only said what it would do. */
function consentMissing(): IdentityError {
  return new IdentityError({ code: 'CANCELLED', text: 'consent missing: nothing is changed' });
}

/** Gives the errors of a call the code with which they are on record. */
function asOutcome(error: unknown): unknown {
  if (error instanceof UsageError) return new IdentityError({ code: 'INVALID_ARGUMENT', text: error.message });
  if (error instanceof InterruptedError) return new IdentityError({ code: 'CANCELLED', text: error.message });
  return error;
}
