import { extname } from 'node:path';
import { completeFile } from '../../shared/durableFiles.ts';
import { reportMissing } from '../../shared/errors/commandErrors.ts';
import { requireFreeFile } from '../places/filePlace.ts';
import { type Block, blockJson } from '../report/blocks.ts';
import { usageError } from '../terminal/command.ts';
import { failureText } from '../terminal/describeError.ts';
import { printableJson, warnOn } from '../terminal/terminal.ts';
import type { MigrationCall } from './migrationOptions.ts';

type Printer = (title: string, blocks: readonly Block[]) => Promise<string>;

const printers: Readonly<Record<string, Printer>> = {
  '.html': async (title, blocks) => (await import('../report/page.ts')).renderPage(title, blocks),
  '.json': async (_, blocks) => `${printableJson(blockJson(blocks))}\n`,
};

/**
 * Returns the function that formats a report for the extension of the given file. Returns undefined if the path is a
 * directory, or if the extension is unknown.
 */
function printerOf(report: string): Printer | undefined {
  return /[/\\]$/.test(report) ? undefined : printers[extname(report).toLowerCase()];
}

/**
 * Requires that the file of the report has a known extension and does not exist.
 * @throws IdentityError USAGE_INVALID if the extension is unknown
 * @throws the errors of `requireFreeFile`
 */
export async function requireReportable(report: string | undefined): Promise<void> {
  if (report === undefined) return;
  if (printerOf(report) === undefined)
    throw usageError(`--report ${report} is neither a page nor JSON: specify FILE.html or FILE.json`);
  await requireFreeFile(report);
}

/**
 * @param done a text about what the command has completed. The error about a missing report contains this text
 * @throws IdentityError REPORT_MISSING if the report cannot be written
 */
export async function writeReport(
  report: string,
  { title, blocks, done }: { readonly title: string; readonly blocks: readonly Block[]; readonly done: string },
  stderr: MigrationCall['stderr'],
): Promise<void> {
  try {
    const text = await printerOf(report)?.(title, blocks);
    if (text !== undefined) await completeFile(report, text, warnOn(stderr));
  } catch (error) {
    throw reportMissing({ file: report, reason: failureText(error), done }, { cause: error });
  }
}
