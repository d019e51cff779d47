# Does what a formula says, as Homebrew would on Linux with Intel, after it has
# verified the archives of all systems:
#
#	ruby homebrew.rb FORMULA ARCHIVES PREFIX
require "digest"
require "fileutils"
require "tmpdir"

# A Place is a directory that a formula installs into.
Place = Struct.new(:path) do
  def install(what)
    what = { what => File.basename(what) } unless what.is_a?(Hash)
    FileUtils.mkdir_p(path)
    what.each { |from, to| FileUtils.cp(from, File.join(path, to), preserve: true) }
  end
end

# Formula stands in for Homebrew's.
class Formula
  ARCHIVES = {}

  class << self
    def desc(_) = nil
    alias homepage desc
    alias version desc
    alias license desc
    def test = nil

    %w[macos linux arm intel].each do |system|
      define_method("on_#{system}") do |&block|
        (@systems ||= []).push(system)
        block.call
        @systems.pop
      end
    end

    def url(url) = @url = url
    def sha256(sum) = ARCHIVES[@systems.dup] = [@url, sum]
  end

  { bin: "bin", man1: "share/man/man1", bash_completion: "etc/bash_completion.d",
    zsh_completion: "share/zsh/site-functions", fish_completion: "share/fish/vendor_completions.d" }.each do |name, path|
    define_method(name) { Place.new(File.join(ARGV[2], path)) }
  end
end

load ARGV[0]
abort "there are archives for #{Formula::ARCHIVES.keys}" if Formula::ARCHIVES.size != 4
Formula::ARCHIVES.each do |systems, (url, sum)|
  have = Digest::SHA256.file(File.join(ARGV[1], File.basename(url))).hexdigest
  abort "#{systems}: the sum of #{url} is #{have}" if have != sum
end
archive = File.expand_path(File.basename(Formula::ARCHIVES[%w[linux intel]][0]), ARGV[1])
Dir.mktmpdir do |dir|
  system("tar", "-xzf", archive, "-C", dir, exception: true)
  Dir.chdir(Dir.children(dir).map { |name| File.join(dir, name) }.first) { Poll.new.install }
end
puts "4 archives verified, #{Dir.glob("**/*", base: ARGV[2]).count { |f| File.file?(File.join(ARGV[2], f)) }} files installed"
