import { z } from 'zod';
import { importedFile } from './exportFile.ts';
import { requestMessage } from './requestMessage.ts';

const document = z
  .union([
    importedFile,
    z
      .string()
      .meta({ contentMediaType: 'application/json', format: 'export-file', description: 'The text of such a file.' }),
  ])
  .optional();

/** The fields that hold a document itself. For descriptions only: what is in them is never held whole. */
export const inlineDocuments = requestMessage({ dataOrgs: document, dataOrgsv1: document });
