import { z } from 'zod';
import type { FileDesk } from './FileDesk.ts';
import { FileSearch } from './FileSearch.ts';
import { type ModelTool, modelTool } from './modelTool.ts';

const pathInput = z.string().describe('relative to the project, such as src/index.js');

/** Tools that look. */
export function readingTools(desk: FileDesk): readonly ModelTool[] {
  const search = new FileSearch(desk);
  return [
    modelTool({
      name: 'list_files',
      description: 'Lists the files of the project.',
      schema: z.object({ prefix: z.string().describe('only paths that begin so, such as src/').optional() }),
      run: ({ prefix }) => desk.list(prefix),
    }),
    modelTool({
      name: 'read_file',
      description: 'Reads a text file, with the edits made so far.',
      schema: z.object({
        path: pathInput,
        from_line: z.int().positive().describe('first line to read; 1 when left out').optional(),
      }),
      run: ({ path: named, from_line: fromLine }) => desk.read(named, fromLine),
    }),
    modelTool({
      name: 'search_files',
      description: 'Finds files by their path.',
      schema: z.object({
        pattern: z.string().min(1).describe('a part of the path, or a pattern such as **/*.test.ts'),
      }),
      run: ({ pattern }) => search.files(pattern),
    }),
    modelTool({
      name: 'search_text',
      description: 'Finds lines in the files of the project, with the edits made so far.',
      schema: z.object({
        text: z.string().min(1).describe('what the line contains'),
        regular_expression: z.boolean().describe('whether text is one, of JavaScript').optional(),
        ignore_case: z.boolean().optional(),
        files: z.string().min(1).describe('only in these, such as src/**/*.ts; all when left out').optional(),
      }),
      run: ({ text, regular_expression: isExpression = false, ignore_case: ignoresCase = false, files }) =>
        search.text({ text, isExpression, ignoresCase, files }),
    }),
  ];
}

/** Tools that edit. Nothing reaches the workspace before the engine applies the edits. */
export function editingTools(desk: FileDesk): readonly ModelTool[] {
  return [
    modelTool({
      name: 'write_file',
      description: 'Creates a file, or replaces it whole.',
      schema: z.object({ path: pathInput, content: z.string().describe('the whole content') }),
      run: async ({ path: named, content }) => ({
        edited: await desk.write(named, content),
        told: `Wrote ${content.length} characters.`,
      }),
    }),
    modelTool({
      name: 'edit_file',
      description: 'Replaces one passage of a file; the rest stays.',
      schema: z.object({
        path: pathInput,
        find: z
          .string()
          .min(1)
          .describe('the passage as it stands, with enough around it to occur exactly once'),
        replace: z.string().describe('what stands there instead'),
      }),
      run: async ({ path: named, find, replace }) => ({
        edited: await desk.replace(named, find, replace),
        told: 'Edited.',
      }),
    }),
    modelTool({
      name: 'delete_file',
      description: 'Deletes a file.',
      schema: z.object({ path: pathInput }),
      run: async ({ path: named }) => ({ edited: await desk.remove(named), told: 'Deleted.' }),
    }),
  ];
}
