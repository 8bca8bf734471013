import { parseObject, textAt } from '../../shared/json/jsonObject.ts';
import type { LeftToDo } from '../../shared/organisation/leftToDo.ts';
import type { Section } from '../../shared/organisation/section.ts';
import { organisationSection } from '../../shared/organisation/sections.ts';
import type { Snapshot, StoredDocument } from '../../shared/store/store.ts';
import { CachedDocuments } from './cachedDocuments.ts';

/** The paths of a section's fields that refer to projects and organisations. */
interface Fields {
  readonly project: string | undefined;
  readonly organisation: string | undefined;
}

/**
 * Finds the records of a partial export that refer to projects and organisations which the file does not hold: grants,
 * and members of projects and grants.
 */
export class OmittedOrganisations {
  /** The organisations of projects. */
  private readonly owners: CachedDocuments<string>;
  private readonly isExported: (orgId: string) => boolean;
  private readonly leftToDo: LeftToDo;

  constructor(snapshot: Snapshot, isExported: (orgId: string) => boolean, leftToDo: LeftToDo) {
    this.owners = new CachedDocuments(snapshot, 'projects', ['orgId'], ({ orgId = '' }) => orgId);
    this.isExported = isExported;
    this.leftToDo = leftToDo;
  }

  /** Adds the records to what is left to do. */
  async check(section: Section, documents: readonly StoredDocument[]): Promise<void> {
    const fields = referringFields(section);
    if (fields === undefined) return;
    const named = documents.map(({ body, orgId = '' }) => readFields(fields, body, orgId));
    const owners = await this.owners.find(named.map(({ projectId }) => projectId));
    for (const [index, document] of documents.entries()) {
      const { projectId = '', organisationId = '' } = named[index] ?? {};
      const ids = new Set([owners.get(projectId) ?? '', organisationId]);
      const omitted = [...ids].filter((orgId) => orgId !== '' && !this.isExported(orgId));
      this.leftToDo.addOmittedOrganisations(section, document, omitted);
    }
  }
}

function referringFields({ exported: { ofProject } = {}, references = [] }: Section): Fields | undefined {
  const toOrganisation = references.find(({ collection }) => collection === organisationSection.collection);
  const organisation = toOrganisation?.key.at(-1);
  return ofProject === undefined && organisation === undefined ? undefined : { project: ofProject, organisation };
}

function readFields({ project, organisation }: Fields, body: string | undefined, orgId: string) {
  const record = parseObject(body);
  const read = (path: string | undefined) => (path === undefined ? '' : textAt(record, path, orgId));
  return { projectId: read(project), organisationId: read(organisation) };
}
