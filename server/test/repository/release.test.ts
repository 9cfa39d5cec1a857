import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import changesets from '../../../.changeset/config.json' with { type: 'json' };
import packageJson from '../../../package.json' with { type: 'json' };

/* The workflows run only after they have landed, so their references are checked here. */

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(root + path, 'utf8');

interface Step {
  readonly id?: string;
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, string | boolean>>;
}
interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly needs?: readonly string[];
  readonly environment?: string;
  readonly uses?: string;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly string[]>> };
  readonly steps?: readonly Step[];
  readonly 'timeout-minutes'?: number;
}

const workflows = globSync('.github/workflows/*.yml', { cwd: root }).map((path) => {
  const text = read(path);
  const workflow = parse(text) as { permissions: object; jobs: Record<string, Job> };
  return { path, text, ...workflow, steps: Object.values(workflow.jobs).flatMap(({ steps = [] }) => steps) };
});
const workspaces = packageJson.workspaces.map((folder) => ({
  folder,
  manifest: JSON.parse(read(`${folder}/package.json`)) as {
    name: string;
    version: string;
    private?: boolean;
    scripts?: Record<string, string>;
  },
}));

describe('the workflows', () => {
  it('run scripts and files that exist', () => {
    const scripts = new Set(Object.keys(packageJson.scripts));
    let count = 0;
    for (const { path, steps } of workflows)
      for (const { run = '' } of steps) {
        for (const [, name = ''] of run.matchAll(/\bnpm run ([\w:-]+)/g)) {
          assert.ok(scripts.has(name), `${path}: npm run ${name}`);
          count++;
        }
        for (const [, file = ''] of run.matchAll(/\b(?:bash|node) ((?:\.ci|scripts)\/\S+)/g)) {
          assert.ok(existsSync(root + file), `${path}: ${file}`);
          count++;
        }
        for (const [, folder = ''] of run.matchAll(/\b((?:clients|deploy)\/\S+)/g)) {
          assert.ok(existsSync(root + folder), `${path}: ${folder}`);
          count++;
        }
      }
    assert.ok(count >= 7);
  });

  it('need only jobs that exist', () => {
    for (const { path, jobs } of workflows)
      for (const { needs = [], uses } of Object.values(jobs)) {
        for (const name of needs) assert.ok(name in jobs, `${path}: ${name}`);
        if (uses !== undefined) assert.ok(existsSync(root + uses), uses);
      }
  });

  it('pin the actions of others to a commit, and name its version', () => {
    for (const { path, text } of workflows)
      for (const [line, action = ''] of text.matchAll(/uses: (\S+).*/g)) {
        if (action.startsWith('./')) continue;
        assert.match(line, /@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, path);
      }
  });

  it('give each job only the permissions that it needs', () => {
    for (const { path, permissions, jobs } of workflows) {
      assert.deepEqual(permissions, {}, path);
      for (const [name, job] of Object.entries(jobs)) {
        const written = Object.entries(job.permissions ?? {}).filter(([, level]) => level === 'write');
        assert.ok(job.permissions !== undefined, `${path}: ${name}`);
        // Only a job that publishes can write, after a person has approved the environment.
        if (written.length > 0 && name !== 'notes') assert.equal(job.environment, 'release', `${path}: ${name}`);
        if (job.uses === undefined) assert.ok(job['timeout-minutes'] !== undefined, `${path}: ${name}`);
      }
    }
  });

  it('keep no credential in the checkout, and put no expression into a script', () => {
    for (const { path, steps } of workflows)
      for (const { uses = '', run = '', with: given } of steps) {
        if (uses.startsWith('actions/checkout@')) assert.equal(given?.['persist-credentials'], false, path);
        assert.doesNotMatch(run, /\$\{\{/, path);
      }
  });
});

describe('the project files', () => {
  it('name one oldest Python, on which CI runs the tests', () => {
    const project = read('clients/python/pyproject.toml');
    const [, oldest] = /^requires-python = ">=([\d.]+)"$/m.exec(project) ?? [];
    for (const [, version] of project.matchAll(/^python_?[vV]ersion = "([\d.]+)"$/gm)) assert.equal(version, oldest);
    const { jobs } = workflows.find(({ path }) => path.endsWith('ci.yml')) ?? assert.fail();
    assert.equal(jobs['python']?.strategy?.matrix['python']?.[0], oldest);
  });

  it('ask in issue forms for what GitHub accepts', () => {
    const types = ['markdown', 'textarea', 'input', 'dropdown', 'checkboxes'];
    for (const path of globSync('.github/ISSUE_TEMPLATE/{bug,feature,question}.yml', { cwd: root })) {
      const { name, description, body } = parse(read(path));
      assert.ok(typeof name === 'string' && typeof description === 'string', path);
      const ids = body.flatMap(({ id }: { id?: string }) => id ?? []);
      assert.equal(new Set(ids).size, ids.length, path);
      for (const { type, attributes } of body) {
        assert.ok(types.includes(type), `${path}: ${type}`);
        assert.ok(attributes.label ?? attributes.value, path);
        if (type === 'dropdown') assert.ok(attributes.options.length > 1, path);
      }
    }
    assert.equal(parse(read('.github/ISSUE_TEMPLATE/config.yml')).blank_issues_enabled, false);
  });
});

describe('a release', () => {
  const { jobs, text } = workflows.find(({ path }) => path.endsWith('release.yml')) ?? assert.fail();

  it('gives everything the same version', () => {
    for (const { manifest } of workspaces) assert.equal(manifest.version, packageJson.version, manifest.name);
    assert.match(read('clients/python/src/switchboard_client/_version.py'), new RegExp(`"${packageJson.version}"`));
    for (const file of ['mcpb/manifest.json', 'server.json'])
      assert.equal(JSON.parse(read(file)).version, packageJson.version, file);
    assert.equal(JSON.parse(read('openapi.json')).info.version, packageJson.version);
    const template = JSON.parse(read('connector-kit/template/package.json'));
    assert.equal(template.dependencies['@switchboard/connector-kit'], `^${packageJson.version}`);
    const tags = [...read('deploy/helm/switchboard/README.md').matchAll(/example\.com\/switchboard:(\S+)/g)];
    assert.deepEqual(
      tags.map(([, tag]) => tag),
      [packageJson.version],
    );
  });

  it('covers every package that is published', () => {
    const [fixed = ''] = changesets.fixed.flat();
    for (const { folder, manifest } of workspaces) {
      if (manifest.private === true) continue;
      assert.equal(manifest.scripts?.['prepack'], 'npm run build', manifest.name);
      assert.match(fixed, new RegExp(`[{,]${manifest.name}[,}]`), manifest.name);
      assert.match(text, new RegExp(`npm pack .*--workspace ${folder}\\b`), manifest.name);
    }
  });

  it('gives the tag `latest` only to the newest version', () => {
    const { run = '' } = jobs['pack']?.steps?.find(({ id }) => id === 'version') ?? assert.fail();
    const folder = mkdtempSync(join(tmpdir(), 'tags-'));
    const tagOf = (version: string, published: string) => {
      const programs = { npm: `[ "$1" = view ] && echo ${published} || true`, jq: `echo ${version}` };
      for (const [name, code] of Object.entries(programs))
        writeFileSync(join(folder, name), `#!/bin/sh\n${code}\n`, { mode: 0o755 });
      const output = join(folder, 'output');
      writeFileSync(output, '');
      execFileSync('bash', ['-e', '-c', run], {
        env: {
          PATH: `${folder}:${process.env['PATH']}`,
          GITHUB_OUTPUT: output,
          GITHUB_REF_NAME: `v${version}`,
          GITHUB_REPOSITORY: 'example/switchboard',
          GITHUB_REPOSITORY_OWNER: 'example',
        },
      });
      return /^npm-tag=(.*)$/m.exec(readFileSync(output, 'utf8'))?.[1];
    };
    try {
      assert.equal(tagOf('0.1.0', ''), 'latest');
      assert.equal(tagOf('0.10.0', '0.9.3'), 'latest');
      assert.equal(tagOf('0.9.4', '0.10.0'), 'release-0.9');
      assert.equal(tagOf('1.0.0-rc.1', '0.10.0'), 'next');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('moves the tag `latest` of the image after the quickstart has run against it', () => {
    const pushed = Object.values(jobs)
      .flatMap(({ steps = [] }) => steps)
      .filter(({ uses }) => uses?.startsWith('docker/build-push-action@'));
    assert.equal(pushed.length, 1);
    for (const { with: given } of pushed)
      assert.match(
        String(given?.['tags']),
        /^\S+ needs\.pack\.outputs\.image \}\}:\S+ needs\.pack\.outputs\.version \}\}$/,
      );
    const moving = Object.values(jobs).filter(({ steps }) =>
      steps?.some(({ run }) => run?.includes('imagetools create')),
    );
    assert.deepEqual(
      moving.map(({ needs }) => needs),
      [['pack', 'image', 'quickstart']],
    );
  });

  it('publishes a chart that runs the published image', {
    skip: process.platform === 'linux' ? false : 'the commands need GNU sed',
  }, () => {
    const { run } =
      jobs['pack']?.steps?.find(({ name }) => name === 'Name the image in the Helm chart') ?? assert.fail();
    const folder = mkdtempSync(join(tmpdir(), 'chart-'));
    try {
      const file = 'deploy/helm/switchboard/values.yaml';
      cpSync(join(root, file), join(folder, file));
      const env = { ...process.env, IMAGE: 'ghcr.io/example/switchboard' };
      execFileSync('sh', ['-e', '-c', run ?? ''], { cwd: folder, env });
      const { image, ...others } = parse(read(file));
      const named = { ...image, repository: 'ghcr.io/example/switchboard' };
      assert.deepEqual(parse(readFileSync(join(folder, file), 'utf8')), { image: named, ...others });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('publishes the image, the chart and the packages with their provenance', () => {
    for (const [name, { steps = [] }] of Object.entries(jobs)) {
      const attested = steps.flatMap(({ uses, with: given }) =>
        uses?.startsWith('actions/attest@') ? [given?.['subject-digest']] : [],
      );
      assert.equal(attested.length, ['image', 'chart'].includes(name) ? 1 : 0, name);
      for (const digest of attested) assert.match(String(digest), /steps\.push\.outputs\.digest/);
      for (const { run = '' } of steps)
        if (run.includes('npm publish')) assert.match(run, /npm publish \S+ --provenance /, name);
    }
  });
});
