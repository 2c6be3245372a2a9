import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { main } from '../packages/cli/src/main.ts';
import { readSettings } from '../packages/cli/src/serve/settings.ts';
import { FakeSurroundings } from '../packages/cli/test-support/fake-surroundings.ts';
import { temporaryFolder } from '../packages/cli/test-support/temporary-folder.ts';
import { readPostgresUrl } from '../packages/core/src/store/postgres/postgres-url.ts';
import { parseConfig } from '../packages/server/src/config/config.ts';
import { yamlLibrary } from '../packages/server/src/config/yaml-library.ts';
import { healthRoute } from '../packages/server/src/routes/health.ts';
import { readyRoute } from '../packages/server/src/routes/ready.ts';

// The files of `deploy/` against the code: what they set is read, what they call is there.

const folder = fileURLToPath(new URL('../deploy/', import.meta.url));
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
// biome-ignore lint/suspicious/noExplicitAny: what is in these files is what is tested.
const parse = (text: string): any => yamlLibrary().parse(text, { merge: true });
const [health, ready] = [healthRoute('1').path, readyRoute(() => true).path];

/** The settings that a server has with these variables, and which of them nothing reads. */
function settingsWith(given: Readonly<Record<string, string>>) {
  const used = new Set<string>();
  const environment = new Proxy(given, {
    get: (all, name) => {
      used.add(String(name));
      return Reflect.get(all, name);
    },
  });
  const settings = readSettings({}, { environment, folder: temporaryFolder() });
  readPostgresUrl(settings.config.store ?? '', environment);
  return { settings, unread: Object.keys(given).filter((name) => !used.has(name)) };
}

/** The options of a command line that the command does not have. */
async function unknownOptions([command = '', ...words]: readonly string[]): Promise<string[]> {
  const surroundings = new FakeSurroundings({ folder: temporaryFolder() });
  expect(await main([command, '--help'], surroundings)).toBe(0);
  return words.filter((word) => word.startsWith('--') && !surroundings.out.includes(` ${word} `));
}

describe('deploy/compose.yaml', () => {
  const { services, configs, volumes } = parse(read('compose.yaml'));
  const nodes = Object.entries<{ environment: Record<string, string>; configs: { source: string; target: string }[] }>(
    services,
  ).filter(([name]) => name.startsWith('node-'));

  test('starts two nodes with the same settings, all of which the server reads', () => {
    expect(nodes.map(([name]) => name)).toEqual(['node-1', 'node-2']);
    expect(nodes[0]?.[1].environment).toEqual(nodes[1]?.[1].environment);
    for (const [, { environment }] of nodes) {
      const { settings, unread } = settingsWith(environment);
      expect(unread).toEqual([]);
      expect(settings).toMatchObject({ vaultKey: expect.any(String), adminKey: expect.any(String) });
    }
  });

  test('has the database that the nodes look for', () => {
    const { store = '' } = settingsWith(nodes[0]?.[1].environment ?? {}).settings.config;
    const { hosts, user, database } = readPostgresUrl(store);
    expect(Object.keys(services)).toContain(hosts[0]?.host);
    expect(services[hosts[0]?.host ?? ''].environment).toMatchObject({ POSTGRES_USER: user, POSTGRES_DB: database });
    expect(Object.keys(volumes)).toEqual(services.postgres.volumes.map((one: string) => one.split(':')[0]));
  });

  test('gives the nodes a configuration that is taken, where the image looks for it', () => {
    expect(parseConfig(configs.dragoman.content)).toMatchObject({ ok: true, value: { host: '0.0.0.0' } });
    const targets = nodes.map(([, node]) => node.configs.map(({ target }) => target));
    const command = /^CMD (\[.*\])$/m.exec(readFileSync(join(folder, '../Dockerfile'), 'utf8'))?.[1] ?? '[]';
    for (const target of targets.flat()) expect(JSON.parse(command)).toContain(target);
  });

  test('has Caddy ask each node at its port whether it is ready', () => {
    const { content } = configs.caddy;
    const { port } = parse(configs.dragoman.content);
    expect(content).toContain(`reverse_proxy ${nodes.map(([name]) => `${name}:${port}`).join(' ')} {`);
    expect(/health_uri (\S+)/.exec(content)?.[1]).toBe(ready);
    const published = services.caddy.ports.map((one: string) => one.split(':').at(-1));
    expect(published).toEqual([/^:(\d+) \{$/m.exec(content)?.[1]]);
  });
});

describe('deploy/kubernetes', () => {
  const kustomization = parse(read('kubernetes/kustomization.yaml'));
  const [deployment, service, budget] = kustomization.resources.map((name: string) =>
    parse(read(`kubernetes/${name}`)),
  );
  const pod = deployment.spec.template;
  const [container] = pod.spec.containers;
  const config = parse(read('kubernetes/dragoman.yaml'));

  test('replaces one node at a time, and lets work finish', () => {
    expect(deployment.spec).toMatchObject({
      replicas: 2,
      strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
    const [, pause] = container.lifecycle.preStop.exec.command;
    // `stop` drains for ten seconds.
    expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(pause) + 10);
    expect(budget.spec.maxUnavailable).toBe(1);
  });

  test('probes the routes that there are, under a name that the server answers to', () => {
    const { startupProbe, livenessProbe, readinessProbe } = container;
    expect([startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path)).toEqual([
      health,
      health,
      ready,
    ]);
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
      expect(httpGet).toMatchObject({
        port: container.ports[0].name,
        httpHeaders: [{ name: 'Host', value: 'localhost' }],
      });
    }
  });

  test('leads from the service to the port that the server listens on', () => {
    expect(parseConfig(read('kubernetes/dragoman.yaml'))).toMatchObject({ ok: true, value: { host: '0.0.0.0' } });
    expect(container.ports).toEqual([{ name: 'http', containerPort: config.port }]);
    expect(service.spec.ports[0].targetPort).toBe(container.ports[0].name);
    for (const selector of [
      service.spec.selector,
      deployment.spec.selector.matchLabels,
      budget.spec.selector.matchLabels,
    ]) {
      expect(pod.metadata.labels).toMatchObject(selector);
    }
    expect(config.allowed_hosts).toContain(service.metadata.name);
  });

  test('sets only what the server reads, and gives arguments that it takes', async () => {
    const values = container.env.map(({ name, value }: { name: string; value?: string }) => [
      name,
      value ?? (name === 'DRAGOMAN_STORE' ? 'postgres://dragoman@db/agents' : 'x'.repeat(44)),
    ]);
    const { settings, unread } = settingsWith(Object.fromEntries(values));
    expect(unread).toEqual([]);
    expect(settings).toMatchObject({ data: '/data/node', vaultKey: expect.any(String), adminKey: expect.any(String) });
    expect(container.args[0]).toBe('serve');
    expect(await unknownOptions(container.args)).toEqual([]);
  });

  test('mounts the configuration and every volume where the server looks', () => {
    const mounts = container.volumeMounts.map(({ name, mountPath }: { name: string; mountPath: string }) => [
      name,
      mountPath,
    ]);
    expect(mounts.map(([name]: [string]) => name).sort()).toEqual(
      pod.spec.volumes.map(({ name }: { name: string }) => name).sort(),
    );
    const [{ name, files }] = kustomization.configMapGenerator;
    expect(pod.spec.volumes[0].configMap.name).toBe(name);
    expect(container.args).toContain(`${mounts[0][1]}/${files[0]}`);
    expect(kustomization.images[0].name).toBe(container.image);
  });
});
