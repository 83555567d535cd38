import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../values/canonicalJson.ts';
import { parseBrief } from '../brief.ts';
import { initialState } from '../initialState.ts';

const AT = '2026-01-02T03:04:05.000Z';
const state = initialState('shop', parseBrief('# Shop\n\nSell things.'), AT);

describe('the state a project starts with', () => {
  test('has the brief as its first document', () => {
    expect(state.documents).toEqual([
      {
        documentId: 'shop/BRIEF',
        projectId: 'shop',
        type: 'BRIEF',
        title: 'Shop',
        content: '# Shop\n\nSell things.',
        status: 'draft',
        version: 1,
        createdAt: AT,
        updatedAt: AT,
      },
    ]);
  });

  test('is initializing, and everything else is empty', () => {
    const { projectConfig, status, documents: _documents, rejections, ...rest } = state;
    expect(projectConfig).toEqual({
      projectId: 'shop',
      name: 'Shop',
      description: '# Shop\n\nSell things.',
      status: 'initializing',
      createdAt: AT,
      updatedAt: AT,
    });
    expect(status).toBe('initializing');
    expect(rejections).toEqual({ design_approval: 0, dag_approval: 0 });
    for (const [name, value] of Object.entries(rest)) {
      expect([name, value === null || value === 0 || (Array.isArray(value) && value.length === 0)]).toEqual([
        name,
        true,
      ]);
    }
  });

  test('is plain JSON', () => expect(JSON.parse(canonicalJson(state))).toEqual(state));
});
