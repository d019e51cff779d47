class Poll < Formula
  desc "Wait for a URL or a command until a condition holds"
  homepage "https://github.com/pollcli/poll"
  version "{{.version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "{{.base}}/poll_v{{.version}}_darwin_arm64.tar.gz"
      sha256 "{{.darwin_arm64}}"
    end
    on_intel do
      url "{{.base}}/poll_v{{.version}}_darwin_amd64.tar.gz"
      sha256 "{{.darwin_amd64}}"
    end
  end

  on_linux do
    on_arm do
      url "{{.base}}/poll_v{{.version}}_linux_arm64.tar.gz"
      sha256 "{{.linux_arm64}}"
    end
    on_intel do
      url "{{.base}}/poll_v{{.version}}_linux_amd64.tar.gz"
      sha256 "{{.linux_amd64}}"
    end
  end

  def install
    bin.install "poll"
    man1.install "man/man1/poll.1"
    bash_completion.install "completions/poll.bash" => "poll"
    zsh_completion.install "completions/_poll"
    fish_completion.install "completions/poll.fish"
  end

  test do
    assert_match "poll v#{version} ", shell_output("#{bin}/poll --version")
    assert_equal "done\n", shell_output("#{bin}/poll -- echo done")
  end
end
