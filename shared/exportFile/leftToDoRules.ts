// The rules for the manual steps after an import. Some rules apply to every target, the others follow from facts about
// ZITADEL.

import type { IssueRow } from '../errors/issueText.ts';
import { manualSteps } from '../errors/manualStepReasons.ts';
import { recordSections } from '../organisation/allSections.ts';
import { fieldFacts } from '../organisation/fieldFacts.ts';
import type { Section, SectionName } from '../organisation/sections/section.ts';
import {
  equalButForCase,
  type FieldFact,
  type ManualStep,
  type MissingProviders,
  mayApply,
  type RecordFact,
  type SecretField,
  stepRow,
} from '../organisation/zitadelFacts.ts';
import { allReleases, type ReleaseRange } from '../organisation/zitadelReleases.ts';

export interface FileContent {
  /**
   * True if the file contains secrets of this kind. `withPasswords`, `withOtp` and `withKeys` are undefined until the
   * whole file was read. Until then, `LeftToDo` collects the steps for both cases.
   */
  readonly withPasswords?: boolean;
  readonly withOtp?: boolean;
  readonly withKeys?: boolean;
  readonly forZitadel: boolean;
  /** The releases that the target may run; absent if unknown. */
  readonly releases?: ReleaseRange;
  /**
   * True if the command `identity` itself sends the file to ZITADEL. The command then also sets the inactive and
   * locked states of records, so no user has to do it.
   */
  readonly inSteps?: boolean;
  /**
   * The kinds of secrets that the request selected. If the file lacks secrets of a selected kind, the source lacks them
   * too.
   */
  readonly asked?: Readonly<Record<SecretField, boolean>>;
}

export interface LeftToDoRule extends Pick<ManualStep, 'scope' | 'unlessValidated' | 'applies' | 'params'> {
  readonly sections: readonly SectionName[];
  readonly reason: string;
  readonly row: IssueRow;
  /**
   * Present if the rule concerns a file that lacks the secrets `field`. If the request selected these secrets, the
   * source lacks them too. `step` then replaces the reason and the text of the rule.
   */
  readonly lacks?: { readonly field: SecretField; readonly step: Pick<LeftToDoRule, 'reason' | 'row'> };
  readonly when?: (content: FileContent) => boolean;
}

function stepOf(reason: keyof typeof manualSteps, ...names: readonly SectionName[]): LeftToDoRule {
  return { reason, sections: names, row: manualSteps[reason] };
}

type LackedKind = {
  [Step in keyof typeof manualSteps]: Step extends `${infer Kind}_not_in_source` ? Kind : never;
}[keyof typeof manualSteps];

/**
 * Creates a rule that applies to files without a kind of secrets.
 * @param forZitadel true if the rule applies only to files for ZITADEL; false if it applies only to other files;
 *   absent if it applies to all files
 */
function ofLacking(
  kind: LackedKind,
  field: SecretField,
  names: readonly SectionName[],
  forZitadel?: boolean,
): LeftToDoRule {
  const when = (content: FileContent) =>
    content[field] !== true && (forZitadel === undefined || content.forZitadel === forZitadel);
  const step = stepOf(`${kind}_not_in_source`);
  return { ...stepOf(`${kind}_missing`, ...names), scope: 'file', when, lacks: { field, step } };
}

/** The rules that do not follow from facts about ZITADEL (specification 8.4). */
const forEveryTarget: readonly LeftToDoRule[] = [
  { ...stepOf('instance_not_exported', 'org'), scope: 'file' },
  ofLacking('passwords', 'withPasswords', ['humanUsers'], false),
  ofLacking('otp', 'withOtp', ['humanUsers'], false),
  ofLacking('totp_seeds', 'withOtp', ['humanUsers'], true),
  { ...stepOf('factors_not_exported', 'humanUsers'), scope: 'file' },
  { ...stepOf('tokens_not_exported', 'machineUsers'), scope: 'file' },
  ofLacking('machine_keys', 'withKeys', ['machineUsers']),
  ofLacking('app_keys', 'withKeys', ['apiApps', 'oidcApps']),
  {
    ...stepOf('client_secret_missing', 'oidcIdps'),
    when: (content) => !content.forZitadel,
    applies: ({ clientSecret }) => clientSecret === undefined,
  },
];

type ZitadelFact = FieldFact | RecordFact;

const uses = recordSections.flatMap((section) =>
  [...fieldFacts(section), ...(section.zitadel?.records ?? [])].map((fact: ZitadelFact) => ({
    fact,
    section: section.name,
  })),
);

/**
 * Maps each fact about ZITADEL to one rule for each manual step of the fact. If several sections share a fact, the
 * rules apply to the records of all these sections.
 */
const rulesByFact: ReadonlyMap<ZitadelFact, readonly LeftToDoRule[]> = new Map(
  [...Map.groupBy(uses, ({ fact }) => fact)].map(([fact, shared]) => {
    // A rule can check only one record. A fact with `dependsOnFile` depends on several records, so its rules apply to
    // no section in this map. The import into ZITADEL adds the steps of such a fact.
    const sections = 'dependsOnFile' in fact ? [] : shared.map(({ section }) => section);
    return [fact, (fact.steps ?? []).map((step) => ({ ...stepRule(fact, step), sections }))];
  }),
);

export function rulesOf(fact: RecordFact): readonly LeftToDoRule[] {
  return rulesByFact.get(fact) ?? [];
}

/** Creates the rule for a manual step of a fact about ZITADEL. The rule applies only to files for ZITADEL. */
function stepRule(fact: Omit<FieldFact, 'does' | 'fields'>, step: ManualStep): LeftToDoRule {
  const { reason, because: _, remedy: __, byHand, ifWith, ifWithout, ...others } = step;
  return {
    ...others,
    reason,
    sections: [],
    row: stepRow(fact, step),
    when: (content) =>
      content.forZitadel &&
      mayApply(fact, content.releases ?? allReleases) &&
      !(byHand && content.inSteps) &&
      (ifWith === undefined || content[ifWith] !== false) &&
      (ifWithout === undefined || content[ifWithout] !== true),
  };
}

/** All rules that depend on a single record, in the order in which a manifest lists their steps. */
export const leftToDoRules: readonly LeftToDoRule[] = [...forEveryTarget, ...[...rulesByFact.values()].flat()];

/** The rule for a record that refers to an organisation outside the file, or to a project of such an organisation. */
export const omittedOrganisations = stepOf('organisations_missing');

/** The rule for a record whose name or key differs only in case from the name or key of another record. */
export const repeatedName = stepRule(equalButForCase, equalButForCase);

const providersToCreate = stepOf('providers_missing');

const providerRules: ReadonlyMap<MissingProviders, LeftToDoRule> = new Map(
  recordSections.flatMap(({ zitadel: { missingProviders: missing } = {} }) =>
    missing === undefined ? [] : [[missing, stepRule(missing, missing)] as const],
  ),
);

/** The rules that depend on several records. */
export const otherRules: readonly LeftToDoRule[] = [
  omittedOrganisations,
  repeatedName,
  providersToCreate,
  ...providerRules.values(),
];

export function missingProviders({ zitadel }: Section, { forZitadel }: FileContent): LeftToDoRule {
  const missing = forZitadel ? zitadel?.missingProviders : undefined;
  return (missing && providerRules.get(missing)) ?? providersToCreate;
}
