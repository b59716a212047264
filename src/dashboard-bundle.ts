/**
 * The page's script: its modules and what they import as one, made small. Run by itself it writes the page into a folder,
 * as a package holds it; whoever runs from the source has what it is put together with.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'dashboard');
const STATIC = ['index.html', 'style.css', 'icon.svg'];

/** @throws Error where the page cannot be put together */
export async function bundleDashboard(): Promise<string> {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({ input: join(FOLDER, 'main.ts') });
  try {
    const { output } = await build.generate({ format: 'esm', minify: true });
    return output[0].code;
  } finally {
    await build.close();
  }
}

if (import.meta.main) {
  const [folder = ''] = process.argv.slice(2);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'main.js'), await bundleDashboard());
  for (const name of STATIC) copyFileSync(join(FOLDER, name), join(folder, name));
}
