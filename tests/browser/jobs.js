// Jobs made to order, as the JSON dumps that their ranks would leave: each job shows a state of the page.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { folderWith } from "./page.js";

const ISSUED_NS = 1_786_716_131n * 1_000_000_000n;

/** The digits of a large number, kept through `JSON.stringify`. */
const big = (number) => `#big${number}#`;

/** A job of `world` ranks that is put together call by call. */
class Job {
  constructor(world) {
    this.world = world;
    this.groups = { 0: { desc: "default_pg", members: [...Array(world).keys()] } };
    this.ranks = this.groups[0].members.map(() => ({ entries: [], counters: {} }));
    this.lost = new Set();
  }

  group(name, desc, members) {
    this.groups[name] = { desc, members };
    return this;
  }

  /** `ranks` issue `op`: { name, on, input, output, dtype, state, at: [function, line], stack }. */
  issue(ranks, op) {
    for (const rank of [ranks].flat()) {
      this.#push(rank, op);
    }
    return this;
  }

  /** All members of the op's group issue it. */
  all(op) {
    return this.issue(this.groups[op.on ?? 0].members, op);
  }

  /** The rank leaves no file. */
  lose(...ranks) {
    ranks.forEach((rank) => this.lost.add(rank));
    return this;
  }

  #push(rank, { name, on = "0", input = [[4096]], output = input, dtype = "BFloat16", state = "completed", at = ["train_step", 90] }) {
    const { entries, counters } = this.ranks[rank];
    const isP2p = /^(send|recv) /.test(name);
    const counter = (counters[on] ??= { seq: 0, p2p: 0 });
    counter[isP2p ? "p2p" : "seq"] += 1;
    const issued = ISSUED_NS + BigInt(entries.length) * 1_000_000_000n + BigInt(rank) * 300_000n;
    const torch = "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py";
    entries.push({
      record_id: entries.length, pg_id: Number(on), process_group: [on, this.groups[on].desc],
      collective_seq_id: counter.seq, p2p_seq_id: counter.p2p, op_id: entries.length, profiling_name: `nccl:${name}`,
      time_created_ns: big(issued), input_sizes: input, output_sizes: output,
      input_dtypes: input.map(() => dtype), output_dtypes: output.map(() => dtype), state,
      time_discovered_started_ns: state === "scheduled" ? null : big(issued + 1_500_000n),
      time_discovered_completed_ns: state === "completed" ? big(issued + 5_000_000n) : null,
      retired: state === "completed", timeout_ms: 600_000, is_p2p: isP2p,
      frames: [
        { name: "all_reduce", filename: torch, line: 2810 },
        { name: "wrapper", filename: torch.replace("distributed_c10d", "c10d_logger"), line: 83 },
        { name: at[0], filename: "/home/me/train/train_3d.py", line: at[1] },
        { name: "layer_forward", filename: "/home/me/train/train_3d.py", line: 49 },
        { name: "train_step", filename: "/home/me/train/train_3d.py", line: 90 },
        { name: "main", filename: "/home/me/train/train_3d.py", line: 121 },
      ],
    });
  }

  /** Writes the dumps into a folder of the test `t`. Gives its path. */
  async write(t, name = "job") {
    const folder = await folderWith(t, null, name);
    const groups = Object.entries(this.groups);
    await Promise.all(this.ranks.map(async ({ entries }, rank) => {
      if (this.lost.has(rank)) {
        return;
      }
      const own = groups.filter(([, { members }]) => members.includes(rank));
      const config = own.map(([name, { desc, members }]) => [name, { name, desc, ranks: JSON.stringify(members) }]);
      const dump = { version: "2.10", pg_config: Object.fromEntries(config), pg_status: {}, entries };
      const text = JSON.stringify(dump).replaceAll(/"#big(\d+)#"/g, "$1");
      await writeFile(join(folder, `nccl_trace_rank_${rank}`), text);
    }));
    return folder;
  }
}

const all = (world) => [...Array(world).keys()];

function trained(world) {
  const job = new Job(world);
  for (let row = 0; row < 3; row += 1) {
    job.all({ name: "all_reduce" });
  }
  return job;
}

const waits = { name: "all_reduce", state: "scheduled", at: ["attention", 32] };

/** The jobs by name. */
export const JOBS = {
  /** Rank 2 of four never issued the last row. */
  missing: () => trained(4).issue([0, 1, 3], waits),

  /** Two ranks against two, and nothing tells which side is wrong. */
  tie: () => trained(4).issue([0, 1], waits).issue([2, 3], { ...waits, input: [[1024]], at: ["mlp", 37] }),

  /** One rank of eight passes another size. */
  size: () => trained(8).issue([0, 1, 2, 3, 4, 6, 7], waits).issue(5, { ...waits, input: [[2048]] }),

  /** No rank has issued anything. */
  nothingPending: () => new Job(4),

  /** Rank 2 of four left no file, and the others wait. */
  noDump: () => trained(4).issue([0, 1, 3], waits).lose(2),

  /** Two groups of the same eight ranks, entered by different ranks. */
  deadlock: () => {
    const job = trained(8).group("1", "shard", all(8)).group("2", "replicate", all(8));
    job.all({ name: "all_to_all", on: "1", at: ["input_dist", 20] });
    job.all({ name: "allreduce_coalesced", on: "2", at: ["sync_embeddings", 40] });
    job.issue([0, 1, 2, 3, 4, 5], { name: "all_to_all", on: "1", state: "scheduled", at: ["input_dist", 20] });
    return job.issue([6, 7], { name: "allreduce_coalesced", on: "2", state: "scheduled", at: ["sync_embeddings", 40] });
  },

  /** Every rank of a ring sends first, and nobody receives. */
  ring: (world = 4) => {
    const job = trained(world);
    all(world).forEach((rank) => {
      job.issue(rank, { name: `send ${rank}->${(rank + 1) % world}`, state: "scheduled", at: ["exchange", 46] });
    });
    return job;
  },

  /** Two independent groups, each with a fault of its own. */
  several: () => {
    const job = trained(8).group("1", "mesh_tp", [0, 1, 2, 3]).group("2", "mesh_tp", [4, 5, 6, 7]);
    for (const on of ["1", "2"]) {
      job.all({ name: "all_reduce", on });
    }
    job.issue([0, 1, 2], { ...waits, on: "1" });
    return job.issue([4, 5, 6], { ...waits, on: "2" }).issue(7, { ...waits, on: "2", dtype: "Float" });
  },

  /** A job of one rank that waits for itself. */
  single: () => trained(1).issue(0, waits),

  /** 64 ranks of which rank 35 skipped one all_reduce of its tensor-parallel group. */
  mesh: () => {
    const job = trained(64);
    for (let first = 0; first < 64; first += 8) {
      job.group(`${1 + first / 8}`, "mesh_tp", all(8).map((rank) => first + rank));
    }
    for (let step = 0; step < 5; step += 1) {
      for (let on = 1; on <= 8; on += 1) {
        job.all({ name: "all_reduce", on: `${on}`, at: ["attention", 32] });
        job.all({ name: "_reduce_scatter_base", on: `${on}`, output: [[512]], at: ["mlp", 37] });
      }
    }
    const gather = { name: "_all_gather_base", input: [[64]], output: [[512]], at: ["mlp", 37] };
    for (let on = 1; on <= 8; on += 1) {
      const isBroken = on === 5;
      const members = job.groups[on].members.filter((rank) => rank !== 35);
      job.issue(members, { ...waits, on: `${on}`, state: isBroken ? "started" : "completed" });
      if (isBroken) {
        job.issue(35, { ...gather, on: `${on}`, state: "scheduled" });
      } else {
        job.issue(members, { ...gather, on: `${on}` });
      }
    }
    return job.issue(all(64).filter((rank) => rank < 32 || rank >= 40), { ...waits, at: ["finish_grads", 95] });
  },

  /**
   * `world` ranks in tensor-parallel groups of eight neighbours and data-parallel groups across these, of which rank `bad` left out the
   * last all_reduce of its tensor-parallel group.
   */
  grid: (world, bad) => {
    const job = trained(world);
    const tp = [...Array(world / 8).keys()].map((group) => `tp${group}`);
    const dp = all(8).map((group) => `dp${group}`);
    tp.forEach((name, group) => job.group(name, "mesh_tp", all(8).map((rank) => group * 8 + rank)));
    dp.forEach((name, group) => job.group(name, "mesh_dp", all(world / 8).map((rank) => rank * 8 + group)));
    for (let step = 0; step < 5; step += 1) {
      tp.forEach((on) => job.all({ name: "all_reduce", on, at: ["attention", 32] }));
      dp.forEach((on) => job.all({ name: "_reduce_scatter_base", on, output: [[512]], at: ["mlp", 37] }));
    }
    tp.forEach((on) => {
      const others = job.groups[on].members.filter((rank) => rank !== bad);
      job.issue(others, { ...waits, on, state: others.length === 8 ? "completed" : "started" });
    });
    const isBeside = (rank) => rank >> 3 === bad >> 3;
    const gather = { name: "_all_gather_base", input: [[64]], output: [[512]], state: "scheduled", at: ["optimizer", 51] };
    return job.issue(all(world).filter((rank) => !isBeside(rank)), gather);
  },

  /** Four of eight ranks enter two groups in one order, the others in the other. */
  race: () => {
    const job = trained(8).group("1", "shard", all(8)).group("2", "replicate", all(8));
    const [shard, replicate] = [
      { name: "all_to_all", on: "1", at: ["input_dist", 20] },
      { name: "allreduce_coalesced", on: "2", at: ["sync_embeddings", 40] },
    ];
    job.issue([0, 1, 2, 3], shard).issue([0, 1, 2, 3], { ...replicate, state: "scheduled" });
    return job.issue([4, 5, 6, 7], replicate).issue([4, 5, 6, 7], { ...shard, state: "scheduled" });
  },

  /** In two groups alike, one rank never issued the last row. */
  alike: () => {
    const job = trained(6).group("1", "mesh_tp", [0, 1, 2]).group("2", "mesh_tp", [3, 4, 5]);
    for (const on of ["1", "2"]) {
      job.all({ name: "all_reduce", on });
    }
    return job.issue([0, 1], { ...waits, on: "1" }).issue([3, 4], { ...waits, on: "2" });
  },

  /** So many ranks, of which one never came. */
  wide: (world) => trained(world).issue(all(world).filter((rank) => rank !== world - 40), waits),
};
