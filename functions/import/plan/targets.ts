import type { OrganisationHeader } from '../../../shared/exportFile/organisationDraft.ts';
import { type JsonObject, parseObject } from '../../../shared/json/jsonObject.ts';
import { defaultScopeWrite, readLoginNameScopes } from '../../../shared/organisation/loginNameScope.ts';
import {
  defaultComplexity,
  type PasswordComplexity,
  parseComplexity,
} from '../../../shared/organisation/passwordRules.ts';
import {
  domainPolicySection,
  passwordPolicySection,
  policyKey,
  requiresValidation,
} from '../../../shared/organisation/sections/policies.ts';
import type { PrimaryDomain, Section } from '../../../shared/organisation/sections/section.ts';
import { documentPath, READ_BATCH } from '../../../shared/store/store.ts';
import { inTurns } from '../../../shared/turns.ts';
import type { ImportContext } from '../context.ts';
import { isDeleted } from '../mirror/deletions.ts';
import { findPrimaryDomains } from './primaryDomains.ts';

export interface TargetOrganisation {
  readonly header: OrganisationHeader;
  /** True if this import created the organisation. No earlier records of the organisation are then stored. */
  readonly isNew: boolean;
  /**
   * True if login names contain the organisation's domain. The value is final once `settleLoginNames` has run, before
   * the import writes users.
   */
  readonly loginNamesByDomain: boolean;
  readonly passwordComplexity: PasswordComplexity;
  readonly validatesDomains: boolean;
  /**
   * The primary domain that is stored when the import begins; undefined if none is stored, or if the file has no
   * primary domain for the organisation.
   */
  readonly primaryDomain: PrimaryDomain | undefined;
}

/** The organisations whose records can be written. The key is the position of the organisation's entry in the file. */
export type Targets = ReadonlyMap<number, TargetOrganisation>;

/** Loads the policies for clear passwords and domains. A policy of the file has precedence over a stored policy. */
export async function loadTargets(
  context: ImportContext,
  existing: ReadonlySet<string>,
  created: ReadonlySet<string>,
): Promise<Targets> {
  const { signal, inspection, loginNamesByDefault } = context;
  const targets = new Map<string, TargetOrganisation>();
  const headers = inspection.organisations.filter(({ orgId }) => existing.has(orgId));
  for await (const batch of inTurns(headers, READ_BATCH, signal)) {
    const orgIds = batch.map(({ orgId }) => orgId);
    const [complexities, domainPolicies, primaryDomains] = await Promise.all([
      readPolicies(context, orgIds, passwordPolicySection),
      readPolicies(context, orgIds, domainPolicySection),
      findPrimaryDomains(
        context,
        batch.filter(({ orgId }) => !created.has(orgId)),
      ),
    ]);
    for (const [index, header] of batch.entries()) {
      const complexity = complexities[index];
      const passwordComplexity =
        header.passwordComplexity ?? (complexity ? parseComplexity(complexity) : defaultComplexity);
      const validatesDomains = header.validatesDomains ?? requiresValidation(domainPolicies[index] ?? {});
      const loginNamesByDomain = loginNamesByDefault;
      const primaryDomain = primaryDomains.get(header.orgId);
      const isNew = created.has(header.orgId);
      const policies = { loginNamesByDomain, passwordComplexity, validatesDomains };
      targets.set(header.orgId, { header, isNew, ...policies, primaryDomain });
    }
  }
  return new Map(
    inspection.entries.flatMap((position, entry) => {
      const header = position === undefined ? undefined : inspection.organisations[position];
      const target = header && targets.get(header.orgId);
      return target === undefined ? [] : [[entry, target]];
    }),
  );
}

async function readPolicies(
  { store, mirror }: Pick<ImportContext, 'store' | 'mirror'>,
  orgIds: readonly string[],
  section: Section,
): Promise<(JsonObject | undefined)[]> {
  const keys = orgIds.map((orgId) => policyKey(orgId, section));
  const documents = await store.getMany(keys, ['body']);
  return documents.map((document, index) => {
    const key = keys[index];
    const isGone = document === undefined || key === undefined || isDeleted(documentPath(key), mirror);
    return isGone ? undefined : parseObject(document.body);
  });
}

const SCOPE_BATCH = 250;

/**
 * Decides for each organisation whether its login names contain the domain, and stores the decision, which no later
 * import can change. Call this after the import has written the domain policies, and before it writes users.
 * @returns the targets with their decisions
 * @throws the signal's reason after an abort
 */
export async function settleLoginNames(context: ImportContext, targets: Targets): Promise<Targets> {
  const { store, signal, loginNamesByDefault } = context;
  const claiming = [...targets.values()].filter(({ header }) => header.hasLoginNames);
  const settled = new Map<string, boolean>();
  for await (const orgIds of inTurns([...new Set(claiming.map(({ header }) => header.orgId))], SCOPE_BATCH, signal)) {
    const scopes = await store.transaction(async (transaction) => {
      const storedScopes = await readLoginNameScopes(transaction, orgIds, loginNamesByDefault);
      const open = orgIds.filter((_orgId, index) => storedScopes[index] === undefined);
      transaction.write(open.map(defaultScopeWrite));
      return storedScopes;
    }, signal);
    for (const [index, orgId] of orgIds.entries()) settled.set(orgId, scopes[index] ?? loginNamesByDefault);
  }
  const withScope = (target: TargetOrganisation) => ({
    ...target,
    loginNamesByDomain: settled.get(target.header.orgId) ?? target.loginNamesByDomain,
  });
  return new Map([...targets].map(([entry, target]) => [entry, withScope(target)]));
}
