//! How good a ranked list is, judged by what should be in it.

/// A question with its right answers: session ids, each with how right it is (2 the one meant, 1 a copy of it).
#[derive(Debug, Clone)]
pub struct Question {
    pub kind: &'static str,
    pub text: String,
    pub answers: Vec<(String, u8)>,
    /// Whether it is kept out of tuning.
    pub held_out: bool,
}

/// Sums of the measures over questions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Score {
    pub ndcg: f64,
    pub mrr: f64,
    pub recall: f64,
    pub n: f64,
}

impl Score {
    /// The measures of one ranked list of session ids.
    pub fn of(question: &Question, ranked: &[String]) -> Self {
        let gain = |id: &String| question.answers.iter().find(|(a, _)| a == id).map_or(0, |(_, g)| *g);
        let discount = |rank: usize| 1.0 / ((rank + 2) as f64).log2();
        let worth = |gain: u8| f64::from((1u32 << gain) - 1);
        let sum = |gains: &[u8]| {
            gains.iter().take(10).enumerate().map(|(i, g)| worth(*g) * discount(i)).sum::<f64>()
        };
        let mut best: Vec<u8> = question.answers.iter().map(|(_, g)| *g).collect();
        best.sort_by(|a, b| b.cmp(a));
        let got: Vec<u8> = ranked.iter().take(20).map(gain).collect();
        let meant = best.first().copied().unwrap_or(0);
        Self {
            ndcg: sum(&got) / sum(&best).max(1e-9),
            mrr: got.iter().position(|g| *g == meant && meant > 0).map_or(0.0, |i| 1.0 / (i + 1) as f64),
            recall: got.iter().filter(|g| **g > 0).count() as f64 / best.len().max(1) as f64,
            n: 1.0,
        }
    }

    pub fn add(&mut self, other: Self) {
        self.ndcg += other.ndcg;
        self.mrr += other.mrr;
        self.recall += other.recall;
        self.n += other.n;
    }

    /// The means.
    pub fn mean(self) -> Self {
        let n = self.n.max(1.0);
        Self { ndcg: self.ndcg / n, mrr: self.mrr / n, recall: self.recall / n, n: self.n }
    }
}
