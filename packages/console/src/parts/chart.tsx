import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { theme } from '../theme.ts';

interface ChartParts {
  readonly title: string;
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[];
  readonly lines: readonly {
    readonly label: string;
    readonly colour: string;
    readonly values: readonly (number | null)[];
  }[];
}

/** Lines over time. What it shows is said in words, too, for those who do not see it. */
export function Chart({ title, times, lines }: ChartParts) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const { value: shown } = theme;
  const labels = lines.map(({ label }) => label).join(' ');
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const axis = {
      stroke: resolved(element, '--dim'),
      grid: { stroke: resolved(element, '--line'), width: 1 },
      ticks: { show: false },
    };
    const made = new uPlot(
      {
        width: element.clientWidth,
        height: element.clientHeight,
        legend: { show: false },
        cursor: { show: false },
        scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
        axes: [axis, { ...axis, size: 44 }],
        series: [
          {},
          ...lines.map(({ label, colour: name }) => ({
            label,
            stroke: resolved(element, name),
            width: 1.6,
            spanGaps: false,
          })),
        ],
      },
      dataOf(times, lines),
      element,
    );
    plot.current = made;
    const resize = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: element.clientHeight }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      made.destroy();
    };
  }, [shown, labels]);
  useEffect(() => plot.current?.setData(dataOf(times, lines)), [times, lines]);
  const words = lines.map(({ label, values }) => `${label}: now ${values.at(-1) ?? 0}`).join('; ');
  return (
    <section class="panel">
      <h2>{title}</h2>
      <div class="chart" ref={place} role="img" aria-label={`${title}. ${words}`} />
      <p class="dim">
        {lines.map(({ label, colour }) => (
          <span key={label}>
            <span style={{ color: `var(${colour})` }}>■</span> {label}{' '}
          </span>
        ))}
      </p>
    </section>
  );
}

/** A canvas knows no variables and no `light-dark()`: the browser says what a colour comes to. */
function resolved(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function dataOf(times: ChartParts['times'], lines: ChartParts['lines']): uPlot.AlignedData {
  return [[...times], ...lines.map(({ values }) => [...values])];
}
