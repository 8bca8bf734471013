import { userInfo } from 'node:os';
import type { Writable } from 'node:stream';
import { z } from 'zod';
import { type AuditFacts, organisationFacts } from '../shared/audit/auditEvent.ts';
import { openAudit } from '../shared/audit/openAudit.ts';
import { IdentityError } from '../shared/errors/identityError.ts';
import type { StoreLocation } from '../shared/store/openStore.ts';
import {
  type GivenValues,
  type InstanceCommand,
  InterruptedError,
  type ListOutput,
  type Output,
  UsageError,
} from './command.ts';

type AnyOutput = Output | ListOutput | undefined;

/**
 * Runs a command that changes something. It is put on record before it starts, and with its outcome at its end.
 * @throws IdentityError UNAVAILABLE, before the command starts, when it cannot be put on record
 */
export async function runAudited(
  command: InstanceCommand,
  given: GivenValues,
  { location, stderr }: { readonly location: StoreLocation; readonly stderr: Writable },
  run: () => Promise<AnyOutput>,
): Promise<AnyOutput> {
  const audit = await openAudit({ storeLocation: location }, stderr);
  try {
    const call = audit.command(command.name);
    let output: AnyOutput;
    await call.begin(commandFacts(command, given), () => createdIds(output));
    try {
      output = await run();
      await call.end(output?.exitStatus?.() === 'consentMissing' ? consentMissing() : undefined);
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
function commandFacts(command: InstanceCommand, { positionals, options }: GivenValues): AuditFacts {
  const isAboutOrganisations = command.arguments[0]?.value === 'ORG_ID';
  const target = isAboutOrganisations ? undefined : (positionals[0] ?? options.user?.[0]);
  const orgIds = isAboutOrganisations ? positionals : options.org;
  const others = Object.keys(command.options).filter((name) => name !== 'user' && name !== 'org');
  return {
    account: userInfo().username,
    ...(target === undefined ? {} : { target: target.slice(0, MAX_CHARACTERS) }),
    ...(orgIds === undefined ? {} : organisationFacts(orgIds)),
    flags: others.flatMap((name) => (options[name] === undefined ? [] : [[`--${name}`, ...options[name]].join(' ')])),
  };
}

const created = z.object({ orgId: z.string(), userId: z.string(), tokenId: z.string() }).partial();

/** Returns the ids in a command's output, and nothing else of it: it may hold a token. */
function createdIds(output: AnyOutput): AuditFacts {
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
